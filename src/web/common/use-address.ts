import { useLayoutEffect, useState } from 'preact/hooks'

/** The part of the page's address that says what it shows, after the `#`. It never holds a credential. */
export interface Address {
  readonly current: string
  /** What was shown before; empty at first. */
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
