import { UsageError } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import { isoTime, timeOfDay } from '../../foundation/text/times.ts'
import type { ContentFact, FleetView, OfHost } from '../../ledger/fleet-view.ts'
import type { PublishedProblem } from '../../ledger/published.ts'
import type { CommandContext } from '../context.ts'
import { renderFields } from '../render/layout.ts'
import { findHost, openView } from './open-view.ts'
import { MAX_PROBLEMS, withHost } from './show-fleet.ts'

const MAX_FAILURES = 20

/** Times are in ISO 8601. */
export interface InFleet {
  readonly facts: readonly (Omit<ContentFact, 'origin' | 'libraryId' | 'at'> & { readonly at: string | null })[]
  readonly failures: readonly (PublishedProblem & Pick<OfHost, 'host'>)[]
}

export async function readInFleet(view: FleetView, sha256: string, libraryId: string): Promise<InFleet> {
  const facts = (await view.explainContent(sha256)).filter((fact) => fact.libraryId === libraryId)
  const failures = await view.listProblems({ hostId: null, limit: MAX_FAILURES, sha256 })
  return {
    facts: facts.map(({ origin: _, libraryId: _of, at, ...fact }) => ({ ...fact, at: isoTime(at) })),
    failures: failures.map(withHost),
  }
}

/** As text by label; `isNew`: this host has no receipt yet, which the state explains. */
export function describeInFleet(
  { facts, failures }: InFleet,
  { isNew, nowMs }: { readonly isNew: boolean; readonly nowMs: number },
): Record<string, string> {
  const sender = isNew && facts.find(({ kind }) => kind === 'stored')?.host
  const state: [string, string][] = sender
    ? [['state', `sent by ${sender}; this host records that with its next run`]]
    : []
  const described = facts.map((fact) => describeFact(fact, nowMs))
  const failed = failures.map(({ host, mirror, path }): [string, string] => [`failed at ${host}`, `${mirror}: ${path}`])
  return Object.fromEntries([...state, ...described, ...failed])
}

function describeFact({ kind, host, at, code, message }: InFleet['facts'][number], nowMs: number): [string, string] {
  const time = at === null ? '' : timeOfDay(Date.parse(at), nowMs)
  switch (kind) {
    case 'stored':
      return ['sent by', `${host}, ${time}`]
    case 'claimed':
      return ['being sent', time === '' ? `by ${host}` : `by ${host} since ${time}`]
    case 'in-doubt':
      return ['not known', `whether an upload of ${host} arrived; the next host that has the file looks`]
    case 'refused':
      return [
        'refused',
        `for ${host}: ${message || 'it keeps to itself what the service said'} [${code}]${time === '' ? '' : `; tried again after ${time}`}`,
      ]
    case 'second-send':
      return ['sent twice', `by ${host}, noticed ${time}`]
  }
}

/** By its path in a mirror or on the disk, or the beginning of a SHA-256. */
export async function explainAtHost(context: CommandContext, name: string, word: string): Promise<void> {
  await using view = await openView(context)
  const { id } = await findHost(view, name)
  const roots = new Map((await view.listMirrors(id)).map((mirror) => [mirror.name, mirror.path]))
  const found = (await view.listProblems({ hostId: id, limit: MAX_PROBLEMS })).filter(({ mirror, path, content }) => {
    const isContent = word.length >= 6 && content?.sha256.startsWith(word.toLowerCase())
    return isContent || path === word || `${roots.get(mirror) ?? mirror}/${path}` === word
  })
  if (found.length === 0) {
    const text = `"${escapeText(name)}" reported no problem of "${escapeText(word)}": hosts report problems only`
    throw new UsageError('bad-usage', `${text}; "shelfd report --host NAME" lists them`)
  }
  if (context.json) {
    context.printJson({ problems: found.map(withHost) })
    return
  }
  for (const { host, mirror, path, code, message, content } of found) {
    context.printText(
      renderFields({
        host,
        mirror: `${mirror}${roots.get(mirror) ? ` (${roots.get(mirror)})` : ''}`,
        path,
        problem: `${message} [${code}]`,
        sha256: content?.sha256,
        tries: content?.tries,
        since: describeIso(content?.since),
        'next try': content?.isSetAside ? 'never: set aside' : describeIso(content?.retryAt),
      }),
    )
  }
}

function describeIso(iso: string | null | undefined): string | undefined {
  return iso ? timeOfDay(Date.parse(iso), Date.now()) : undefined
}
