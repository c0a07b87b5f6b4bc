import type { FleetView } from '../../src/ledger/fleet-view.ts'
import type { HostOrder } from '../../src/ledger/ledger.ts'
import { MAX_PUBLISHED, type Published } from '../../src/ledger/published.ts'
import type { Journal, JournalTable } from './journal.ts'
import type { Host } from './memory-rows.ts'

/** What hosts told people elsewhere. */
export type PublishedView = Pick<FleetView, 'listMirrors' | 'listProblems' | 'listRuns'>

/** What a ledger in memory has for people: orders to hosts, and what these tell of themselves. */
export class MemoryPublished implements PublishedView {
  readonly #journal: Journal
  readonly #hosts: JournalTable<Host>
  readonly #orders: JournalTable<HostOrder & { readonly host: string; readonly id: number }>
  readonly #told: JournalTable<Published>

  constructor(journal: Journal, hosts: JournalTable<Host>) {
    this.#journal = journal
    this.#hosts = hosts
    this.#orders = journal.table()
    this.#told = journal.table()
  }

  /** Returns false if there is no such host. `id`: a number that was never given out. */
  giveOrder(hostId: number, order: HostOrder, id: number): boolean {
    const found = [...this.#hosts.entries()].find(([, host]) => host.id === hostId)
    if (!found) return false
    this.#journal.commit(() => this.#orders.set(String(id), { ...order, host: found[0], id }))
    return true
  }

  /** Returns the orders after number `taken`, and forgets those up to it. */
  takeOrders(host: string, taken: number) {
    const orders = [...this.#orders.entries()].filter(([, order]) => order.host === host)
    for (const [key, { id }] of orders) if (id <= taken) this.#orders.delete(key)
    return orders.map(([, order]) => order).filter(({ id }) => id > taken)
  }

  publish(host: string, { sentInDay, mirrors, ...given }: Published): void {
    const before = this.#told.get(host)
    this.#told.set(host, {
      sentInDay,
      mirrors: mirrors.slice(0, MAX_PUBLISHED.mirrors),
      problems: (given.problems ?? before?.problems ?? []).slice(0, MAX_PUBLISHED.problemsInAll),
      runs: (given.runs ?? before?.runs ?? []).slice(0, MAX_PUBLISHED.runs),
    })
  }

  async listMirrors(hostId: number | null) {
    return this.#list(hostId, ({ mirrors }) => mirrors.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
  }

  async listProblems({ hostId, limit, sha256 }: Parameters<FleetView['listProblems']>[0]) {
    const found = this.#list(hostId, ({ problems = [] }) => {
      const byMirror = Map.groupBy(problems, ({ mirror }) => mirror)
      return [...byMirror.keys()].sort().flatMap((name) => byMirror.get(name)?.slice(0, MAX_PUBLISHED.problems) ?? [])
    })
    return found.filter(({ content }) => sha256 === undefined || content?.sha256 === sha256).slice(0, limit)
  }

  async listRuns({ hostId, limit }: Parameters<FleetView['listRuns']>[0]) {
    const found = this.#list(hostId, ({ runs = [] }) => runs)
    return found.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt)).slice(0, limit)
  }

  #list<T>(hostId: number | null, rowsOf: (told: Published) => readonly T[]) {
    const hosts = [...this.#hosts.entries()].filter(([, { id }]) => hostId === null || id === hostId)
    return hosts
      .sort(([, a], [, b]) => (a.name < b.name ? -1 : 1))
      .flatMap(([key, { id, name }]) => {
        const told = this.#told.get(key)
        return told ? rowsOf(told).map((row) => ({ ...row, hostId: id, host: name })) : []
      })
  }
}
