import type { HostPage, HostShown, HostsPage } from '../contract/dashboard.ts'
import { ROWS_A_PAGE } from '../contract/dashboard-addresses.ts'
import { RequestError } from '../foundation/errors.ts'
import { isoTime } from '../foundation/text/times.ts'
import { type FleetView, type HostView, sessionState } from '../ledger/fleet-view.ts'
import type { HostOrder } from '../ledger/ledger.ts'

/** How many problems of a host are shown. */
const MAX_PROBLEMS = 100

/** Reads what the hosts of the ledger published, and gives them orders. The first call connects to the ledger. */
export class Hosts implements AsyncDisposable {
  readonly #open: (() => Promise<FleetView>) | undefined
  #view: Promise<FleetView> | undefined

  /** `open`: undefined for a host that shares no ledger. */
  constructor(open: (() => Promise<FleetView>) | undefined) {
    this.#open = open
  }

  async list({ text, offset }: { readonly text: string; readonly offset: number }): Promise<HostsPage> {
    const view = await this.#connect()
    const [hosts, secondSends] = [await view.listHosts(), await view.countSecondSends()]
    const named = hosts.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
    const lastPage = Math.max(0, Math.ceil(named.length / ROWS_A_PAGE) - 1)
    const start = Math.min(offset, lastPage * ROWS_A_PAGE)
    return { total: named.length, secondSends, hosts: named.slice(start, start + ROWS_A_PAGE).map(toHostShown) }
  }

  async show(hostId: number): Promise<HostPage> {
    const view = await this.#connect()
    const host = (await view.listHosts()).find(({ id }) => id === hostId)
    if (!host) throw unknownHost()
    return {
      host: toHostShown(host),
      mirrors: await view.listMirrors(hostId),
      problems: await view.listProblems({ hostId, limit: MAX_PROBLEMS }),
    }
  }

  async order(hostId: number, order: HostOrder): Promise<void> {
    const view = await this.#connect()
    if (!(await view.giveOrder(hostId, order))) throw unknownHost()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const view = await this.#view?.catch(() => undefined)
    await view?.[Symbol.asyncDispose]()
  }

  async #connect(): Promise<FleetView> {
    if (!this.#open) throw new RequestError('not-found', 'This host shares no ledger with others', 404)
    this.#view ??= this.#open()
    return await this.#view.catch((error: unknown) => {
      this.#view = undefined
      throw error
    })
  }
}

function unknownHost(): RequestError {
  return new RequestError('not-found', 'The ledger has no such host', 404)
}

function toHostShown(view: HostView): HostShown {
  const { seenAt, publishedAt: _, claims: _claims, isOpen: _open, isSilent: _silent, ...host } = view
  return { ...host, seenAt: isoTime(seenAt), session: sessionState(view) }
}
