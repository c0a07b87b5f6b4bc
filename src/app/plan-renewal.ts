import { UsageError } from '../foundation/errors.ts'
import { counted, groupDigits, shellWord } from '../foundation/text/safe-text.ts'
import { formatSize } from '../foundation/text/units.ts'
import type { StoreReader } from '../store/open-store.ts'
import type { MirrorRow } from '../store/tables/mirrors.ts'
import { listRoster } from './mirrors/mirror-roster.ts'
import type { Settings } from './settings/settings.ts'

/** One step towards a library that holds today's files only; nobody but the user makes it. */
export interface RenewalStep {
  readonly text: string
  readonly commands: readonly string[]
  readonly isDone: boolean
}

export interface Renewal {
  /** Distinct contents of today's files in the old library, and those of earlier versions, which only it has. */
  readonly today: Amount
  readonly earlier: Amount
  readonly steps: readonly RenewalStep[]
}

interface Amount {
  readonly documents: number
  readonly bytes: number
}

export interface RenewalInput {
  readonly settings: Settings
  readonly store: StoreReader
  /** The service that the library belongs to, as mirrors are pinned to it. */
  readonly origin: string
  readonly old: { readonly id: string; readonly name: string }
  /** The name of the new library, and its identifier once it exists. */
  readonly next: { readonly name: string; readonly id: string | undefined }
}

/**
 * Plans how the mirrors of a library move to a new one, since the interface deletes whole libraries only (4.9): what would be sent again,
 * what would end, and the steps with those that are done. Throws UsageError `unknown-mirror` without a mirror in either library.
 */
export function planRenewal(input: RenewalInput): Renewal {
  const { settings, store, origin, old, next } = input
  if (next.id === old.id) {
    throw new UsageError('bad-usage', `"${next.name}" is the old library itself: --to names another one`)
  }
  const known = store.mirrors.list().filter(({ library }) => library.origin === origin)
  const before = known.filter(({ library }) => library.remoteId === old.id)
  const moved = known.filter(({ library }) => library.remoteId === next.id)
  // Forgotten, or never synced: the old library may be the only one that has their files.
  const names = new Set([old.id, old.name, next.id, next.name])
  const unsynced = listRoster(settings, known).filter(({ configured, row }) => !row && names.has(configured?.library))
  if (before.length + moved.length + unsynced.length === 0) {
    const way =
      'if you have just forgotten one, its sync into the new library comes next; "shelfd mirrors list" shows them'
    throw new UsageError('unknown-mirror', `No mirror uses the library "${old.name}" or "${next.name}": ${way}`)
  }
  const today = amountOf(
    new Map(before.flatMap((mirror) => [...listAll(store, mirror)].map((each) => [each.id, each]))).values(),
  )
  const earlier = sum(before.map((mirror) => amountOf(store.report.listSuperseded(mirror.id))))
  const synced = moved.map(({ name }) => shellWord(name)).join(' ')
  const steps: RenewalStep[] = [
    {
      text: 'Create the new library.',
      commands: [`shelfd libraries create ${shellWord(next.name)}`],
      isDone: next.id !== undefined,
    },
    {
      text: `See what no mirror sent: it ends with the old library, unless "shelfd resource download ID" saves it.`,
      commands: before.map(({ name }) => `shelfd report ${shellWord(name)} --only remote-only --all`),
      isDone: before.length === 0,
    },
    ...before.map((mirror) => moveStep(input, mirror, amountOf(listAll(store, mirror)))),
    ...unsynced.map(({ name, path }) => ({
      text: `Send ${path}, which this computer does not know as sent to the new library.`,
      commands: [setLibrary(name, next.name), `shelfd sync ${shellWord(name)}`],
      isDone: false,
    })),
    ...moved.map((mirror) => sendStep(store, mirror)),
    {
      text: 'Check that both sides are equal: it must end with exit code 0.',
      commands: [`shelfd report ${synced} --check`],
      // Its result is for a person to see, each time.
      isDone: false,
    },
    {
      text: `Delete the old library, if these are all that it is for: ${moved.map(({ path }) => path).join(', ')}. There is no way back.`,
      commands: [`shelfd libraries delete ${shellWord(old.id)}`],
      isDone: false,
    },
  ]
  return { today, earlier, steps: before.length + unsynced.length > 0 ? steps.slice(0, -2) : steps }
}

function moveStep({ settings, next }: RenewalInput, { name, path, remotePath, isAdHoc }: MirrorRow, amount: Amount) {
  const forget = `shelfd mirrors forget ${shellWord(name)}`
  const sends = `sends ${counted(amount.documents, 'document')} again, ${formatSize(amount.bytes)}${describeRuns(settings, amount)}`
  // Forgetting and sending are one line, so that no mirror is forgotten and left out.
  const commands = isAdHoc
    ? [`${forget} && shelfd sync ${shellWord(path)} --to ${shellWord(`${next.name}:${remotePath}`)}`]
    : [setLibrary(name, next.name), `${forget} && shelfd sync ${shellWord(name)}`]
  return { text: `Mirror ${path} into the new library: this ${sends}.`, commands, isDone: false }
}

function setLibrary(mirror: string, library: string): string {
  return `shelfd config set ${shellWord(`mirrors.${mirror}.library`)} ${shellWord(library)}`
}

function sendStep(store: StoreReader, mirror: MirrorRow): RenewalStep {
  const open = store.report
    .tallyFiles(mirror.id)
    .reduce((files, tally) => files + (tally.outcome === 'searchable' ? 0 : tally.files), 0)
  return {
    text: `Send all of ${mirror.path}${open > 0 ? `: ${counted(open, 'file is', 'files are')} not searchable yet` : ''}.`,
    commands: [`shelfd sync ${shellWord(mirror.name)}`],
    isDone: open === 0,
  }
}

/** `, in 3 runs by newPerRun`; empty where one run is enough. */
function describeRuns({ limits }: Settings, { documents }: Amount): string {
  const { newPerRun, newPerDay } = limits
  const parts = [
    newPerDay !== null && documents > newPerDay ? `${Math.ceil(documents / newPerDay)} days by newPerDay` : '',
    newPerRun !== null && documents > newPerRun ? `${Math.ceil(documents / newPerRun)} runs by newPerRun` : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : `, in ${parts.join(' and ')}`
}

export function describeRenewal({ today, earlier }: Renewal): string {
  if (today.documents + earlier.documents === 0) return 'no mirror uses the old library any more'
  const say = ({ documents, bytes }: Amount) => `${groupDigits(documents)} (${formatSize(bytes)})`
  return `documents of today's files: ${say(today)}, of earlier versions: ${say(earlier)}`
}

const PAGE_SIZE = 1_000

function* listAll(
  { report }: StoreReader,
  { id }: MirrorRow,
): Generator<{ readonly id: number; readonly size: number }> {
  for (let afterId = 0, page = report.listSent(id, 0, PAGE_SIZE); page.length > 0; ) {
    yield* page
    afterId = page.at(-1)?.id ?? afterId
    page = report.listSent(id, afterId, PAGE_SIZE)
  }
}

function amountOf(contents: Iterable<{ readonly size: number }>): Amount {
  return sum(Array.from(contents, ({ size }) => ({ documents: 1, bytes: size })))
}

function sum(amounts: readonly Amount[]): Amount {
  const add = (one: Amount, other: Amount) => {
    return { documents: one.documents + other.documents, bytes: one.bytes + other.bytes }
  }
  return amounts.reduce(add, { documents: 0, bytes: 0 })
}
