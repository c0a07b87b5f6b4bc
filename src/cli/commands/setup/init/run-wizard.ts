import { isThere } from '../../../../app/files/real-path.ts'
import { writePrivateFile } from '../../../../app/files/write-private.ts'
import type { ChosenMirror } from '../../../../app/settings/config-file/render-config.ts'
import type { Draft } from '../../../../app/setup/draft.ts'
import { HeldBackError } from '../../../../foundation/errors.ts'
import { escapeText } from '../../../../foundation/text/safe-text.ts'
import type { CommandContext } from '../../../context.ts'
import type { ExitName } from '../../../exit-codes.ts'
import { openPrompts } from '../../../terminal/prompts.ts'
import { checkDraft, errorOfFailure } from './check-draft.ts'
import { chooseDirectories, toMirrors } from './choose-directories.ts'
import { chooseLibrary } from './choose-library.ts'
import { type CheckedService, chooseService } from './choose-service.ts'
import { offerCompletion } from './offer-completion.ts'
import { offerSystemService } from './offer-system-service.ts'
import { preview } from './preview.ts'
import { tellDaemon } from './tell-daemon.ts'
import {
  assertAnswered,
  configFileOf,
  draftOf,
  type InitFlags,
  openDoctorOn,
  shownPath,
  type TypedToken,
  type Wizard,
} from './wizard.ts'

/**
 * Asks, shows and writes, in this order:
 * 1. may the configuration that is there be replaced?
 * 2. where the files go, with a credential that works
 * 3. which directories, and into which library
 * 4. what would be sent
 * 5. write the token and the configuration; before that nothing is changed but a library that was to be created
 * 6. have a running daemon read it
 * 7. offer the service of the system and completion
 */
export async function runWizard(context: CommandContext, flags: InitFlags): Promise<ExitName> {
  const { io } = context
  const prompts = io.isTerminal.stdin && io.isTerminal.stderr ? await openPrompts(io) : undefined
  const wizard: Wizard = { context, flags, prompts, configFile: configFileOf(context) }
  assertAnswered(wizard)
  await assertReplaceable(wizard)
  const checked = await chooseService(wizard)
  const paths = await chooseDirectories(wizard)
  const mirrors = checked ? await chooseRemote(wizard, checked, paths) : toMirrors(paths, undefined)
  const draft = draftOf(wizard, { service: checked?.service, mirrors }, checked?.token)
  await assertSound(wizard, draft)
  await preview(wizard, draft, checked?.token)
  await confirmWriting(wizard)
  write(draft, checked?.token)
  if (!context.json) context.print(`Wrote ${escapeText(draft.configFile)}`)
  const hasDaemon = await tellDaemon(wizard, draft)
  const offered = { service: await offerSystemService(wizard), completion: await offerCompletion(wizard) }
  if (context.json) {
    const tokenFile = checked?.service.tokenFile ?? null
    context.printJson({ configFile: draft.configFile, tokenFile, mirrors, installed: offered })
  } else context.printMessage(`Next: shelfd sync · shelfd doctor · shelfd ${hasDaemon ? 'status' : 'daemon'}`)
  return 'done'
}

/** Throws HeldBackError when a configuration is there that may not be replaced. */
async function assertReplaceable(wizard: Wizard): Promise<void> {
  const { flags, prompts, configFile } = wizard
  if (flags.force || !isThere(configFile)) return
  if (await prompts?.confirm(`${shownPath(wizard, configFile)} is there already. Replace it?`, false)) return
  throw new HeldBackError('confirmation-needed', `"${configFile}" is there already and is kept; --force replaces it`)
}

async function chooseRemote(
  wizard: Wizard,
  { service, token }: CheckedService,
  paths: readonly string[],
): Promise<ChosenMirror[]> {
  await using doctor = await openDoctorOn(wizard, draftOf(wizard, { service, mirrors: [] }, token))
  return toMirrors(paths, await chooseLibrary(wizard, doctor))
}

/** Throws the error of the first check that the whole configuration fails. */
async function assertSound(wizard: Wizard, draft: Draft): Promise<void> {
  await using doctor = await openDoctorOn(wizard, draft)
  const failure = await checkDraft(wizard, doctor, ['configuration', 'mirrors', 'overlap', 'rights', 'disk'])
  if (failure) throw errorOfFailure(failure)
}

async function confirmWriting(wizard: Wizard): Promise<void> {
  const { flags, prompts, configFile } = wizard
  if (flags.yes || !prompts || (await prompts.confirm(`Write ${shownPath(wizard, configFile)}?`, true))) return
  throw new HeldBackError('confirmation-needed', 'Nothing was written')
}

/** Writes the token first: a configuration never names a token file that is missing. */
function write({ configFile, configText }: Draft, token: TypedToken | undefined): void {
  if (token) writePrivateFile(token.file, `${token.text}\n`)
  writePrivateFile(configFile, configText)
}
