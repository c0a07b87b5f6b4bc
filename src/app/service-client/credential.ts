import { join, resolve } from 'node:path'
import { AccessError, systemCodeOf, UsageError } from '../../foundation/errors.ts'
import { describeFailure, runProgram } from '../../foundation/run-program.ts'
import { decodeText } from '../../foundation/text/decode-text.ts'
import { assertPrivate, type ReadTextFile, readTextFile, type TextFile } from '../files/private-files.ts'
import { expandHome, type Surroundings } from '../settings/config-paths.ts'
import type { FleetSettings, TokenSources } from '../settings/settings.ts'

export interface TokenInput extends Surroundings {
  readonly readFile?: ReadTextFile
  readonly signal?: AbortSignal
}

export interface FoundToken {
  readonly token: string
  /** Where it comes from, for messages: a file or a program in quotes, a variable, or a setting. */
  readonly source: string
}

const COMMAND_TIMEOUT_MS = 30_000
const MAX_SECRET_BYTES = 64 * 1024
const HOW_TO_SET_TOKEN =
  'set service.tokenFile or service.tokenCommand in the configuration, or SHELFD_TOKEN_FILE or SHELFD_TOKEN in the environment, or a systemd credential named "token"'

/**
 * Returns the token of the first of these that is set: `SHELFD_TOKEN`, `SHELFD_TOKEN_FILE`, the configuration, a systemd credential.
 * Throws AccessError('credential-missing') and UsageError.
 */
export async function readToken(sources: TokenSources, input: TokenInput): Promise<FoundToken> {
  const { env, cwd, home } = input
  if (env.SHELFD_TOKEN) return checkToken(env.SHELFD_TOKEN, 'SHELFD_TOKEN')
  if (env.SHELFD_TOKEN_FILE) return readTokenFile(resolve(cwd, expandHome(env.SHELFD_TOKEN_FILE, home)), input)
  if (sources.token !== undefined) return checkToken(sources.token, 'service.token')
  if (sources.tokenFile !== undefined) return readTokenFile(sources.tokenFile, input)
  if (sources.tokenCommand) {
    const text = await runSecretCommand(sources.tokenCommand, 'access token (service.tokenCommand)', input)
    return checkToken(text, `the output of "${sources.tokenCommand[0]}"`)
  }
  return readSystemdCredential(input) ?? missing(`Cannot sign in: no access token; ${HOW_TO_SET_TOKEN}`)
}

/** Returns the password for the ledger; undefined if none is configured. Throws as `readToken` does. */
export async function readPassword(
  { passwordFile, passwordCommand }: Pick<FleetSettings, 'passwordFile' | 'passwordCommand'>,
  input: TokenInput,
): Promise<string | undefined> {
  const text =
    passwordFile !== undefined
      ? readPrivateFile(passwordFile, 'password', input).text
      : passwordCommand &&
        (await runSecretCommand(passwordCommand, 'password of the ledger (fleet.passwordCommand)', input))
  const password = text?.replace(/\r?\n$/, '')
  if (password === '')
    missing(`Cannot sign in to the ledger: "${passwordFile ?? passwordCommand?.[0]}" gives no password`)
  return password
}

function readTokenFile(file: string, input: TokenInput): FoundToken {
  const found = readPrivateFile(file, 'token', input)
  return checkToken(found.text, found.origin ?? `"${file}"`)
}

function readPrivateFile(file: string, what: 'token' | 'password', { readFile = readTextFile }: TokenInput): TextFile {
  const found = attempt(() => readFile(file), `Cannot read the ${what} file "${file}"`)
  if (!found) {
    missing(`Cannot read the ${what} file "${file}": there is no such file; write the ${what} into it, with mode 0600`)
  }
  assertPrivate(file, found)
  return found
}

/** Does not check the mode, because an access control list changes it; systemd protects the directory. */
function readSystemdCredential({ env, readFile = readTextFile }: TokenInput): FoundToken | undefined {
  if (!env.CREDENTIALS_DIRECTORY) return undefined
  const file = join(env.CREDENTIALS_DIRECTORY, 'token')
  const found = attempt(() => readFile(file), `Cannot read the credential "${file}"`)
  return found && checkToken(found.text, `"${file}"`)
}

/** Returns what the program prints. `what` names the secret and the setting, as in `password of the ledger (fleet.passwordCommand)`. */
async function runSecretCommand(
  [program = '', ...args]: readonly string[],
  what: string,
  { env, signal }: TokenInput,
): Promise<string> {
  const call = {
    program,
    args,
    env,
    timeoutMs: COMMAND_TIMEOUT_MS,
    maxStdoutBytes: MAX_SECRET_BYTES,
    ...(signal && { signal }),
  }
  const { failure, stdout } = await runProgram(call)
  signal?.throwIfAborted()
  if (!failure)
    return decodeText(stdout) ?? missing(`Cannot get the ${what}: what "${program}" prints is not text in UTF-8`)
  // What the command printed may contain the secret.
  const why = describeFailure(call, failure)
  if (failure.kind === 'untrusted') throw new UsageError('insecure-file', why)
  return missing(`Cannot get the ${what}: ${why}`)
}

function checkToken(text: string, source: string): FoundToken {
  const token = text.trim()
  if (token === '') return missing(`Cannot sign in: ${source} is empty; it must hold the access token`)
  if (/^[\x21-\x7e]+$/.test(token)) return { token, source }
  throw new UsageError('bad-configuration', `Cannot use ${source} as access token: it must be one line without spaces`)
}

function attempt<T>(read: () => T, what: string): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new AccessError('credential-missing', `${what}: ${systemCodeOf(error) ?? 'it cannot be read'}`)
  }
}

function missing(message: string): never {
  throw new AccessError('credential-missing', message)
}
