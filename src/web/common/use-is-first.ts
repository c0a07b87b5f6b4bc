import { useEffect, useRef, useState } from 'preact/hooks'

/** False from the second address on. */
export function useIsFirst(address: string): boolean {
  const first = useRef(address)
  const [isFirst, setIsFirst] = useState(true)
  useEffect(() => {
    if (address !== first.current) setIsFirst(false)
  }, [address])
  return isFirst && address === first.current
}
