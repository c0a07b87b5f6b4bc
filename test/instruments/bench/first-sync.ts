import type { NullService } from './null-service.ts'
import { readSummary, runWithPeak, type ShelfdRun, shelfdEnvironment, syncCommand } from './run-shelfd.ts'
import type { Workspace } from './workspace.ts'

export interface SyncPlace {
  readonly tree: string
  readonly program: string
  readonly service: NullService
  readonly workspace: Workspace
}

/** A tree that was mirrored once into the null service and is unchanged since. */
export interface Mirrored {
  readonly first: ShelfdRun
  readonly second: ShelfdRun
  /** Requests of the second run. */
  readonly secondRequests: number
  readonly files: number
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Mirrors the tree at most once, however many rows need it. */
export class FirstSync {
  readonly #place: SyncPlace
  #mirrored: Promise<Mirrored> | undefined

  constructor(place: SyncPlace) {
    this.#place = place
  }

  get(): Promise<Mirrored> {
    this.#mirrored ??= mirrorTwice(this.#place)
    return this.#mirrored
  }
}

/** The first run settles what was too young to be proven unchanged; the second one must find nothing to do. */
export async function mirrorTwice({ tree, program, service, workspace }: SyncPlace): Promise<Mirrored> {
  const env = shelfdEnvironment(workspace.fresh('home'), service.url)
  const command = syncCommand(program, tree)
  const first = await runWithPeak(command, env)
  const before = await service.countRequests()
  const second = await runWithPeak(command, env)
  const secondRequests = (await service.countRequests()) - before
  const { files, uploads } = readSummary(second)
  if (uploads.created > 0) throw new Error(`The second run sent ${uploads.created} files of an unchanged tree`)
  return { first, second, secondRequests, files: files.scanned, command, env }
}
