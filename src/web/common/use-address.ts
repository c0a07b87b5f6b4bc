import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** The part of the page's address that says what it shows, after the `#`. It never holds a credential. */
interface Address {
  readonly current: string
  /** The address that was shown before; empty at first. */
  readonly previous: string
}

/** Follows the address through links and the history of the browser. */
export function useAddress(): Address {
  const [address, setAddress] = useState<Address>({ current: location.hash, previous: '' })
  useLayoutEffect(() => {
    const follow = () => setAddress(({ current }) => ({ current: location.hash, previous: current }))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return address
}

/** False from the second address on. */
export function useIsFirst(address: string): boolean {
  const first = useRef(address)
  const [isFirst, setIsFirst] = useState(true)
  useEffect(() => {
    if (address !== first.current) setIsFirst(false)
  }, [address])
  return isFirst && address === first.current
}
