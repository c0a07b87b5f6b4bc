import { basename, isAbsolute, resolve } from 'node:path'
import type { ChosenMirror, FieldProblem } from '../../contract/mirror-edits.ts'
import { ShelfdError } from '../../foundation/errors.ts'
import { freeName, mayUpload } from '../../rules/mirrors.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Service } from '../../sync/engine.ts'
import { findLibrary } from '../../sync/pin/pin-mirror.ts'
import { realPathOf } from '../files/paths.ts'
import { expandHome } from '../settings/config-paths.ts'
import { adHocMirror, type ConfiguredMirror, type Settings } from '../settings/settings.ts'
import { assertDirectory, keptNames } from './choose-mirrors.ts'
import { describeRoot } from './describe-root.ts'

export class FieldError extends Error {
  readonly field: FieldProblem['field']

  constructor(field: FieldProblem['field'], message: string) {
    super(message)
    this.field = field
  }
}

/** Runs a check of one field: what it throws for the user becomes a FieldError. */
export async function checkField<T>(field: FieldProblem['field'], check: () => T | Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    throw error instanceof ShelfdError ? new FieldError(field, error.message) : error
  }
}

/** Returns the directory that a form names; throws FieldError. */
export function chosenPath({ path }: ChosenMirror, home: string): string {
  const expanded = expandHome(path.trim(), home)
  if (isAbsolute(expanded)) return resolve(expanded)
  throw new FieldError('path', 'Give the whole path of a directory, such as ~/Papers')
}

interface Around {
  readonly settings: Settings
  readonly known: readonly MirrorRow[]
  readonly home: string
}

/** Completes an input form, without asking the service; throws FieldError. */
export async function chooseNewMirror(
  chosen: ChosenMirror,
  { settings, known, home }: Around,
): Promise<ConfiguredMirror> {
  const path = chosenPath(chosen, home)
  await checkField('path', () => assertDirectory(path))
  const real = realPathOf('/', path)
  const same = settings.mirrors.find((mirror) => realPathOf('/', mirror.path) === real)
  if (same) throw new FieldError('path', `The mirror "${same.name}" is of this directory already`)
  const breadth = describeRoot(path, home)
  if (breadth !== undefined)
    throw new FieldError('path', `"${path}" holds ${breadth}; only the command line mirrors that, once it is confirmed`)
  const kept = keptNames(settings, known)
  const isTaken = (name: string) => kept.has(name) || settings.mirrors.some((mirror) => mirror.name === name)
  const name = chosen.name.trim() || freeName(basename(path), isTaken)
  if (isTaken(name)) throw new FieldError('name', `There is a mirror "${name}" already`)
  if (!/^[^/\p{Cc}]+$/u.test(name)) throw new FieldError('name', 'A name has no "/" in it')
  const library = chosen.library.trim() || (settings.service.kind === 'embedded' ? name : '')
  if (library === '') throw new FieldError('library', 'Choose a library of the service, or name a new one')
  const isInUse = (place: string) =>
    settings.mirrors.some((mirror) => mirror.library === library && mirror.remotePath === place)
  return { ...adHocMirror(path, { library, remotePath: freeName(`/${basename(path)}`, isInUse) }), name }
}

/** Throws FieldError for a library that takes nothing from this credential. */
export async function isNewLibrary(service: Service, library: string, signal: AbortSignal): Promise<boolean> {
  const connection = await service.connect(signal)
  const { access } = connection
  const found = await checkField('library', () => findLibrary(connection, library, signal))
  if (found ? mayUpload(found, access) : access.abilities.includes('library.create')) return !found
  const why = found ? 'may not add to it' : 'may not make it, and there is none of that name'
  throw new FieldError('library', `The access token ${why}: "${library}"`)
}
