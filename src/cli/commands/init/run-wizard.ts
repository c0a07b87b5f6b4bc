import { join } from 'node:path'
import { reloadDaemon } from '../../../app/ask-daemon.ts'
import type { DoctorContext } from '../../../app/doctor/doctor-context.ts'
import { isThere } from '../../../app/files/paths-on-disk.ts'
import { writePrivateFile } from '../../../app/files/private-files.ts'
import type { Surroundings } from '../../../app/settings/config-paths.ts'
import type { Draft } from '../../../app/settings/draft.ts'
import { HeldBackError, messageOf, ShelfdError, UsageError } from '../../../foundation/errors.ts'
import { baseDirectory } from '../../../foundation/files/home.ts'
import { escapeText } from '../../../foundation/text/safe-text.ts'
import { lackingRights } from '../../../rules/doctor-findings.ts'
import { findLibrary } from '../../../sync/pin/pin-mirror.ts'
import { type CommandContext, createContext } from '../../context.ts'
import type { ExitName } from '../../exit-codes.ts'
import { openPrompts } from '../../terminal/prompts.ts'
import { renderCompletionScript } from '../completion.ts'
import { openDoctor } from '../doctor.ts'
import type { InitFlags } from '../init.ts'
import { installCommand } from '../service.ts'
import {
  type CheckedService,
  chooseCredential,
  chooseDirectories,
  chooseGitignored,
  chooseLibrary,
  chooseService,
  toMirrors,
} from './questions.ts'
import {
  assertAnswered,
  checkDraft,
  configFileOf,
  draftOf,
  errorOfFailure,
  shownPath,
  type TypedToken,
  type Wizard,
} from './wizard.ts'

/** Asks the questions, shows a preview, and writes the token and the configuration. Before that it only creates a library, if wanted. */
export async function runWizard(context: CommandContext, flags: InitFlags): Promise<ExitName> {
  const { io } = context
  const prompts = io.isTerminal.stdin && io.isTerminal.stderr ? await openPrompts(context) : undefined
  const wizard: Wizard = { context, flags, prompts, configFile: configFileOf(context) }
  assertAnswered(wizard)
  await assertReplaceable(wizard)
  const found = await chooseService(wizard)
  const paths = await chooseDirectories(wizard)
  const gitignored = await chooseGitignored(wizard, paths)
  const { checked, library } = found ? await chooseRemote(wizard, found) : {}
  const mirrors = toMirrors(paths, library).map((each) => ({ ...each, gitignore: gitignored.includes(each.path) }))
  const draft = draftOf(wizard, { service: checked?.service, mirrors }, checked?.token)
  await assertSound(wizard, draft)
  await preview(wizard, draft, checked?.token)
  await confirmWriting(wizard)
  writeFiles(draft, checked?.token)
  if (!context.json) context.print(`Wrote ${escapeText(draft.configFile)}`)
  const reloaded = await reloadDaemon(draft.readSettings().stateDir)
  if (reloaded !== undefined) context.printMessage(reloaded)
  const offered = { service: await offerSystemService(wizard), completion: await offerCompletion(wizard) }
  if (context.json) {
    const tokenFile = checked?.service.tokenFile ?? null
    context.printJson({ configFile: draft.configFile, tokenFile, mirrors, installed: offered })
  } else
    context.printMessage(`Next: shelfd sync · shelfd doctor · shelfd ${reloaded === undefined ? 'daemon' : 'status'}`)
  return 'done'
}

/** Throws HeldBackError for a configuration that may not be replaced. */
async function assertReplaceable(wizard: Wizard): Promise<void> {
  const { flags, prompts, configFile } = wizard
  if (flags.force || !isThere(configFile)) return
  if (await prompts?.confirm(`${shownPath(wizard, configFile)} is there already. Replace it?`, false)) return
  throw new HeldBackError('confirmation-needed', `"${configFile}" is there already and is kept; --force replaces it`)
}

/** Asks for a library or another token until the token has the rights in the library that a mirror needs. */
async function chooseRemote(wizard: Wizard, found: CheckedService) {
  let checked = found
  for (let given = wizard.flags.library; ; given = undefined) {
    const { service, token } = checked
    await using doctor = await openDoctor(wizard.context, draftOf(wizard, { service, mirrors: [] }, token))
    const library = await chooseLibrary(wizard, doctor, given)
    if (library === undefined) checked = await chooseCredential(wizard, service, true)
    else if (!wizard.prompts || (await mayMirror(wizard, doctor, library))) return { checked, library }
  }
}

/** Returns whether the token has the rights that a mirror needs; otherwise prints which ones it lacks. */
async function mayMirror({ context }: Wizard, doctor: DoctorContext, name: string): Promise<boolean> {
  const client = await doctor.client()
  // The answer that the doctor keeps may be older than the library.
  const access = await client.checkAccess(context.signal)
  const library = await findLibrary({ client, access }, name, context.signal)
  const lacking = library ? lackingRights(library, access.abilities) : 'every right'
  if (lacking === '') return true
  context.printMessage(`The access token lacks ${lacking} in the library "${escapeText(library?.name ?? name)}"`)
  return false
}

/** Throws the error of the first failed check. */
async function assertSound(wizard: Wizard, draft: Draft): Promise<void> {
  await using doctor = await openDoctor(wizard.context, draft)
  const failure = await checkDraft(wizard, doctor, ['configuration', 'mirrors', 'overlap', 'rights', 'disk'])
  if (failure) throw errorOfFailure(failure)
}

async function confirmWriting(wizard: Wizard): Promise<void> {
  const { flags, prompts, configFile } = wizard
  if (flags.yes || !prompts || (await prompts.confirm(`Write ${shownPath(wizard, configFile)}?`, true))) return
  throw new HeldBackError('confirmation-needed', 'Nothing was written')
}

/** Writes the token first, because a configuration must not name a missing file. */
function writeFiles({ configFile, configText }: Draft, token: TypedToken | undefined): void {
  if (token) writePrivateFile(token.file, `${token.text}\n`)
  writePrivateFile(configFile, configText)
}

/** The arguments of `sync --dry-run --allow-root`. */
const DRY_RUN = {
  mirrors: [],
  to: undefined,
  dryRun: true,
  allowRoot: true,
  noWait: false,
  waitTimeout: undefined,
  verifySearch: false,
  checksum: false,
  maxDuration: undefined,
  minAge: undefined,
  acceptRemovals: false,
  acceptRoot: false,
  adopt: false,
  yes: false,
  report: false,
}

/** Shows what a first sync would send, by a dry run with the drafted configuration. */
async function preview({ context }: Wizard, draft: Draft, token: TypedToken | undefined): Promise<void> {
  const { command: sync } = await import('../sync.ts')
  const env = token ? { ...context.io.env, SHELFD_TOKEN: token.text } : context.io.env
  // The output of the dry run is only a message here, so it goes to stderr.
  const io = { ...context.io, env, stdout: context.io.stderr }
  const { quiet, verbosity } = context
  const flags = { config: undefined, json: false, quiet, verbosity, color: 'auto', settingFlags: {} } as const
  const shown = createContext(io, flags, () => draft.readSettings())
  try {
    await sync.run(shown, DRY_RUN)
  } catch (error) {
    // The configuration may still be right, as when the library already holds the directory.
    if (!(error instanceof ShelfdError) || error.kind === 'interrupted') throw error
    context.printMessage(`Cannot preview what would be sent: ${escapeText(messageOf(error))}`)
  }
}

async function offerSystemService({ context, flags, prompts, configFile }: Wizard): Promise<boolean> {
  const question = 'Keep it running? The service manager then starts "shelfd daemon" with this computer'
  const answer = flags.installService ?? ((await prompts?.confirm(question, false)) ? 'yes' : 'no')
  if (answer === 'no') return false
  const { readSettings } = await import('../../../app/settings/read-settings.ts')
  const { io, config, quiet, verbosity, color, settingFlags } = context
  // The output of the installation is only a message here, so it goes to stderr.
  const wizardIo = { ...io, stdout: io.stderr }
  const shown = createContext(wizardIo, { config, json: false, quiet, verbosity, color, settingFlags }, () =>
    readSettings({ ...io, flags: { ...settingFlags, config: configFile } }),
  )
  try {
    await installCommand.run(shown, { system: false, noStart: false, tokenFile: undefined })
    return true
  } catch (error) {
    // The configuration is written, and usable without a service manager.
    if (!(error instanceof UsageError) || flags.installService === 'yes') throw error
    context.printMessage(error.message)
    return false
  }
}

async function offerCompletion({ context, flags, prompts }: Wizard): Promise<string | null> {
  const { io } = context
  const shell = shellOf(io.env.SHELL)
  if (flags.installCompletion === 'no' || (!shell && flags.installCompletion === undefined)) return null
  if (!shell || shell === 'zsh') {
    context.printMessage('For completion: shelfd completion zsh >> ~/.zshrc (below the line with compinit)')
    return null
  }
  const question = `Complete commands with TAB in ${shell}?`
  if (flags.installCompletion !== 'yes' && !(await prompts?.confirm(question, true))) return null
  const file = completionFile(shell, io)
  writePrivateFile(file, renderCompletionScript(shell))
  context.printMessage(`Wrote ${file}: TAB completes in the next terminal`)
  return file
}

/** The shells that read completions from a directory of the user; zsh does so only if it is told to. */
type ReadingShell = 'bash' | 'fish'

/** Returns the shell that the variable SHELL names; undefined for a shell without completion. */
function shellOf(shell = ''): ReadingShell | 'zsh' | undefined {
  const name = shell.slice(shell.lastIndexOf('/') + 1)
  return (['bash', 'fish', 'zsh'] as const).find((known) => known === name)
}

function completionFile(shell: ReadingShell, { env, home }: Surroundings): string {
  if (shell === 'fish')
    return join(baseDirectory(env.XDG_CONFIG_HOME, home, '.config'), 'fish', 'completions', 'shelfd.fish')
  const base = baseDirectory(env.XDG_DATA_HOME, home, join('.local', 'share'))
  return join(base, 'bash-completion', 'completions', 'shelfd')
}
