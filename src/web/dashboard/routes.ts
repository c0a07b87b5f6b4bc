import type { Overview } from '../../contract/dashboard.ts'

/** The views, by the first part of the address after the `#`; the others are what a view shows. */
const VIEWS = ['mirrors', 'report', 'problems', 'timeline', 'search', 'settings', 'log', 'hosts'] as const

export type View = (typeof VIEWS)[number]

/** Returns those that there are: the hosts only where this one shares a ledger with others. */
export function viewsOf(overview: Overview | undefined): readonly View[] {
  return overview?.isInFleet ? VIEWS : VIEWS.filter((name) => name !== 'hosts')
}

interface Route {
  readonly view: View
  /** The parameters that a view reads from its address, such as `mirror` and `class`. */
  readonly query: Readonly<Record<string, string>>
}

/** Reads an address such as `#/report?mirror=Papers`; what is not one leads to the mirrors. */
export function parseAddress(address: string): Route {
  const [path = '', query = ''] = address.replace(/^#\/?/, '').split('?', 2)
  const view = VIEWS.find((each) => each === path) ?? 'mirrors'
  return { view, query: Object.fromEntries(new URLSearchParams(query)) }
}

/** The address that `parseAddress` reads; empty values are left out. */
export function addressOf(view: View, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return `#/${view}${text === '' ? '' : `?${text}`}`
}

export interface ViewProps {
  readonly query: Readonly<Record<string, string>>
  /** True when its heading takes the focus. */
  readonly takesFocus: boolean
}
