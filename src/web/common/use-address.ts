import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Address, parseAddress, type ViewProps } from './address.ts'

/** Follows the address through links and the history of the browser. Another `id` makes another view. */
export function useAddress(idOf: (address: Address) => string): ViewProps & { readonly id: string } {
  const [{ current, cameFrom }, setHash] = useState({ current: location.hash, cameFrom: '' })
  useLayoutEffect(() => {
    const follow = () => setHash((before) => ({ current: location.hash, cameFrom: before.current }))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const address = parseAddress(current)
  const id = idOf(address)
  const { current: shown } = useRef(new Set<string>())
  shown.add(id)
  return { ...address, id, cameFrom, takesFocus: shown.size > 1 }
}
