import { basename, dirname, join, resolve } from 'node:path'
import type { DoctorContext } from '../../../app/doctor/doctor-context.ts'
import { findDocumentFolders } from '../../../app/files/document-folders.ts'
import { realPathOf } from '../../../app/files/paths-on-disk.ts'
import { describeRoot, describeUnusedGitignore } from '../../../app/mirrors/check-roots.ts'
import { expandHome } from '../../../app/settings/config-paths.ts'
import type { ChosenMirror, ChosenService } from '../../../app/settings/draft.ts'
import type { LibrarySummary } from '../../../contract/records.ts'
import { HeldBackError, messageOf, UsageError } from '../../../foundation/errors.ts'
import { counted } from '../../../foundation/text/safe-text.ts'
import { boundedFileSystem } from '../../../local/read/bounded-file-system.ts'
import { inspectRoot } from '../../../local/read/open-and-recheck-root.ts'
import { parseOrigin } from '../../../remote/client-options.ts'
import { lackingRights } from '../../../rules/doctor-findings.ts'
import { freeName } from '../../../rules/mirror-activity.ts'
import { findLibrary } from '../../../sync/pin/pin-mirror.ts'
import { openDoctor } from '../doctor.ts'
import { checkDraft, draftOf, errorOfFailure, givenUrl, shownPath, type TypedToken, type Wizard } from './wizard.ts'

/** A service with an accepted credential. `token` is undefined if a variable or an existing file provides the token. */
export interface CheckedService {
  readonly service: ChosenService
  readonly token: TypedToken | undefined
}

/** Returns the service for the files; undefined for the library on this computer. */
export async function chooseService(wizard: Wizard): Promise<CheckedService | undefined> {
  const { flags, prompts, context } = wizard
  if (flags.embedded) return undefined
  const given = givenUrl(context)
  if (given === undefined && prompts) {
    const kind = await prompts.choose('Where do the files go?', [
      { value: 'service', label: 'a Knowledge Library Service', hint: 'its address and an access token are needed' },
      { value: 'embedded', label: 'the library on this computer', hint: 'nothing leaves it' },
    ])
    if (kind === 'embedded') return undefined
  }
  const service = await chooseAddress(wizard, given)
  return chooseCredential(wizard, service)
}

/** Asks for the address until a service answers there. */
async function chooseAddress(wizard: Wizard, given: string | undefined): Promise<ChosenService> {
  const { prompts, context } = wizard
  for (let typed = given; ; typed = undefined) {
    const answer = typed ?? (await prompts?.askText('Address of the service', ADDRESS)) ?? ''
    const service = {
      url: parseOrigin(answer),
      tokenFile: undefined,
      ...certificateFiles(context),
    }
    await using doctor = await openDoctor(wizard.context, draftOf(wizard, { service, mirrors: [] }, undefined))
    const failure = await checkDraft(wizard, doctor, ['configuration', 'proxy', 'certificate', 'service'])
    if (!failure) return service
    if (!prompts) throw errorOfFailure(failure)
  }
}

/** Returns the certificate files that flags name. Files that variables name are left out, because each start reads the variables. */
function certificateFiles({
  settingFlags,
  io,
}: Wizard['context']): Pick<ChosenService, 'caFile' | 'clientCertificate'> {
  const absolute = (file: string | undefined) => (file === undefined ? undefined : resolve(io.cwd, file))
  const certFile = absolute(settingFlags['client-cert-file'])
  const keyFile = absolute(settingFlags['client-key-file'])
  const passphraseFile = absolute(settingFlags['client-passphrase-file'])
  return {
    caFile: absolute(settingFlags['ca-file']),
    clientCertificate: certFile && keyFile ? { certFile, keyFile, passphraseFile } : undefined,
  }
}

const ADDRESS = {
  placeholder: 'https://library.example.com',
  validate: (text: string) => {
    try {
      parseOrigin(text)
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  },
}

/** Asks for the token until the service accepts it. */
export async function chooseCredential(
  wizard: Wizard,
  service: ChosenService,
  asksAgain = false,
): Promise<CheckedService> {
  const { prompts } = wizard
  for (let isFirst = !asksAgain; ; isFirst = false) {
    const found = (isFirst ? givenCredential(wizard, service) : undefined) ?? (await askToken(wizard, service))
    const draft = draftOf(wizard, { service: found.service, mirrors: [] }, found.token)
    await using doctor = await openDoctor(wizard.context, draft)
    const failure = await checkDraft(wizard, doctor, ['credential'])
    if (!failure) return found
    if (!prompts) throw errorOfFailure(failure)
  }
}

function givenCredential({ flags, context }: Wizard, service: ChosenService): CheckedService | undefined {
  const { env, cwd, home } = context.io
  if (env.SHELFD_TOKEN || env.SHELFD_TOKEN_FILE) return { service, token: undefined }
  if (flags.tokenFile === undefined) return undefined
  return { service: { ...service, tokenFile: resolve(cwd, expandHome(flags.tokenFile, home)) }, token: undefined }
}

async function askToken({ prompts, configFile, context }: Wizard, service: ChosenService): Promise<CheckedService> {
  const text = ((await prompts?.askSecret('Access token (from the Access Tokens page of the service)')) ?? '').trim()
  context.redactor.add(text)
  const file = join(dirname(configFile), 'token')
  return { service: { ...service, tokenFile: file }, token: { file, text } }
}

export async function chooseDirectories(wizard: Wizard): Promise<string[]> {
  const { flags, context } = wizard
  const { cwd, home } = context.io
  const given = flags.directories.length > 0 ? flags.directories : await askDirectories(wizard)
  const paths = [...new Set(given.map((word) => realPathOf(cwd, expandHome(word, home))))]
  for (const path of paths) await assertUsable(wizard, path)
  return paths
}

async function askDirectories(wizard: Wizard): Promise<string[]> {
  const { prompts, context } = wizard
  const { cwd, home } = context.io
  if (!prompts) return []
  const found = findDocumentFolders(home)
  const choices = found.map(({ path, documents }) => ({
    value: path,
    label: shownPath(wizard, path),
    hint: counted(documents, 'document'),
  }))
  const chosen =
    found.length === 0 ? [] : await prompts.chooseSeveral('Which directories? (choose none to type one)', choices, [])
  if (chosen.length > 0) return chosen
  const typed = await prompts.askText('Directory to mirror', {
    placeholder: '~/Papers',
    validate: (text) => describeUnreadable(resolve(cwd, expandHome(text, home))),
  })
  return [typed]
}

/** Returns the directories whose `.gitignore` files are used. */
export async function chooseGitignored(wizard: Wizard, paths: readonly string[]): Promise<readonly string[]> {
  const { flags, prompts, context } = wizard
  const found = paths.filter((path) => describeUnusedGitignore(path, flags.gitignore === 'yes'))
  if (flags.gitignore !== undefined || found.length === 0) return flags.gitignore === 'yes' ? paths : []
  const names = found.map((path) => shownPath(wizard, path)).join(', ')
  if (await prompts?.confirm(`Leave out what .gitignore names in ${names}, as well?`, false)) return found
  if (!prompts) context.printMessage(`What .gitignore names in ${names} is sent: --gitignore yes leaves it out`)
  return []
}

/** Returns why a directory cannot be mirrored; undefined for a usable one. */
function describeUnreadable(path: string): string | undefined {
  try {
    inspectRoot(boundedFileSystem, path)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

async function assertUsable({ prompts, context }: Wizard, path: string): Promise<void> {
  inspectRoot(boundedFileSystem, path)
  const breadth = describeRoot(path, context.io.home)
  if (breadth === undefined) return
  const isIntended = await prompts?.confirm(`Mirroring "${path}" sends ${breadth}. Is this intended?`, false)
  if (isIntended) return
  throw new HeldBackError('confirmation-needed', `"${path}" is not mirrored: it holds ${breadth}`)
}

/** Returns a mirror for each path, with a name and a remote path of its own; without a library, also with a library of its own. */
export function toMirrors(paths: readonly string[], library: string | undefined): ChosenMirror[] {
  const mirrors: ChosenMirror[] = []
  for (const path of paths) {
    const name = freeName(basename(path) || 'root', (taken) => mirrors.some((mirror) => mirror.name === taken))
    mirrors.push({ name, path, library: library ?? name, remotePath: `/${name}` })
  }
  return mirrors
}

const NEW_LIBRARY = '(new)'
const OTHER_TOKEN = '(token)'

/** Returns the library that the user chose, after creating it if it is new; undefined if the user wants to type another token. */
export async function chooseLibrary(
  wizard: Wizard,
  doctor: DoctorContext,
  given: string | undefined,
): Promise<string | undefined> {
  const { flags, prompts, context } = wizard
  const [client, access] = [await doctor.client(), await doctor.access()]
  if (given !== undefined) {
    const found = await findLibrary({ client, access }, given, context.signal)
    if (found) return given
    if (flags.createLibrary) return createLibrary(doctor, wizard, given)
    const hint = '--create-library creates it'
    throw new UsageError('unknown-library', `There is no library "${given}"; ${hint}`)
  }
  if (!prompts) throw new UsageError('bad-usage', 'Cannot ask for the library without a terminal: give --library')
  const { libraries, abilities } = access
  const canCreate = abilities.includes('library.create')
  const hasOwnToken = context.io.env.SHELFD_TOKEN || context.io.env.SHELFD_TOKEN_FILE
  const choices = [
    ...libraries.map((library) => ({ value: library.id, ...describeLibrary(library, abilities) })),
    ...(canCreate ? [{ value: NEW_LIBRARY, label: 'a new library' }] : []),
    ...(hasOwnToken ? [] : [{ value: OTHER_TOKEN, label: 'none of these: another access token' }]),
  ]
  if (choices.length === 0) {
    throw new UsageError('unknown-library', 'The credential may not add to any library, and may not create one')
  }
  const chosen = await prompts.choose('Which library?', choices)
  if (chosen === OTHER_TOKEN) return undefined
  if (chosen === NEW_LIBRARY) return createLibrary(doctor, wizard, await prompts.askText('Name of the new library'))
  const names = libraries.map(({ name }) => name)
  const name = libraries.find(({ id }) => id === chosen)?.name ?? chosen
  return names.filter((other) => other === name).length > 1 ? chosen : name
}

/** Describes a library as a choice. Missing rights are in the label, because the prompt shows the hint of one choice only. */
function describeLibrary(library: LibrarySummary, abilities: readonly string[]) {
  const lacking = lackingRights(library, abilities)
  if (lacking === '') return { label: library.name, hint: library.access.join(', ') }
  return { label: `${library.name} (the access token lacks ${lacking})` }
}

async function createLibrary(doctor: DoctorContext, { context }: Wizard, name: string): Promise<string> {
  const { name: created } = await (await doctor.client()).createLibrary(name, null, context.signal)
  context.printMessage(
    `Created the library "${created}". This gives no right to it: the token may need further rights.`,
  )
  return created
}
