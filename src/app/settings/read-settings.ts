import { messageOf, UsageError } from '../../foundation/errors.ts'
import { expectedOf } from '../../foundation/text/describe-issue.ts'
import { assertPrivate, assertTrusted, type ReadTextFile, readTextFile, type TextFile } from '../files/private-files.ts'
import {
  configCandidates,
  defaultStateDir,
  findConfigFile,
  type Surroundings,
  withAbsolutePaths,
} from './config-paths.ts'
import { readOverrides, type SettingFlags } from './overrides.ts'
import { type ConfigFile, parseConfigFile } from './parse-file.ts'
import { isMapping, layOver, type Raw, valueAt } from './raw-settings.ts'
import { type Config, configSchema, EMBEDDED_DEFAULTS, EMBEDDED_MIRROR_DEFAULTS } from './schema.ts'
import { type Settings, toSettings } from './settings.ts'
import { beginsWithFlag, describeProblems, findMirrorProblems } from './settings-problems.ts'

export interface SettingsInput extends Surroundings {
  readonly flags: SettingFlags & { readonly config?: string | undefined }
  readonly readFile?: ReadTextFile
}

interface FoundFile {
  readonly path: string
  readonly file: TextFile
  readonly parsed: ConfigFile
}

/** Returns the settings: flags override `SHELFD_*` variables, and these override the file. Throws UsageError with file and line. */
export function readSettings(input: SettingsInput): Settings {
  return loadConfiguration(input).settings
}

/** Returns the settings, the values before the schema adds defaults, and origins: `--flag`, `SHELFD_VARIABLE`, `FILE:LINE`, `default`. */
export function loadConfiguration(input: SettingsInput) {
  const found = findFile(input)
  const overrides = readOverrides(input.flags, input.env, input.cwd)
  const written = layOver(found?.parsed.raw ?? {}, overrides.raw)
  const raw = isMapping(written.service) ? written : withEmbeddedDefaults(written)
  const locationOf = (path: readonly PropertyKey[]) =>
    overrides.origins.get(path.join('.')) ?? found?.parsed.locationOf(path) ?? 'configuration'
  const configFile = found?.path
  const addressFrom = overrides.origins.get('service.url') ?? configFile ?? 'default'
  const settings = toSettings(checkConfig(raw, locationOf), { configFile, addressFrom }, input)
  const hasLibrary = (index: number) => valueAt(raw, ['mirrors', index, 'library']) !== undefined
  const problems = findMirrorProblems(settings, hasLibrary)
  if (problems.length > 0)
    throw badConfiguration(problems.map(({ path, message }) => `${locationOf(path)}: ${message}`))
  if (found) assertSafe(found, settings)
  const originOf = (path: readonly PropertyKey[]) =>
    valueAt(written, path) === undefined ? 'default' : locationOf(path)
  return { settings, raw, originOf }
}

function withEmbeddedDefaults(written: Raw): Raw {
  const { mirrors, ...raw } = layOver(EMBEDDED_DEFAULTS, written)
  if (!Array.isArray(mirrors)) return { ...raw, ...(mirrors !== undefined && { mirrors }) }
  const each = mirrors.map((mirror) => (isMapping(mirror) ? { ...EMBEDDED_MIRROR_DEFAULTS, ...mirror } : mirror))
  return { ...raw, mirrors: each }
}

function findFile({ flags, readFile = readTextFile, ...surroundings }: SettingsInput): FoundFile | undefined {
  for (const { file: path, isRequired } of configCandidates(flags.config, surroundings)) {
    const file = readConfig(path, readFile)
    if (file) return { path, file, parsed: parse(path, file.text, surroundings) }
    if (isRequired) throw badConfiguration([`there is no file "${path}"`])
  }
  return undefined
}

function parse(path: string, text: string, { env, home }: Surroundings): ConfigFile {
  const { raw, locationOf } = parseConfigFile(path, text, env)
  return { raw: withAbsolutePaths(raw, path, home), locationOf }
}

function readConfig(path: string, readFile: ReadTextFile): TextFile | undefined {
  try {
    return readFile(path)
  } catch (error) {
    throw badConfiguration([`"${path}": ${messageOf(error)}`])
  }
}

function checkConfig(raw: Raw, locationOf: (path: readonly PropertyKey[]) => string): Config {
  // Without `jitless`, zod would first compile the schema, which takes longer than using it once.
  const checked = configSchema.safeParse(raw, { error: expectedOf, jitless: true })
  if (checked.success) {
    const { service, fleet } = checked.data
    if (countDefined(service?.token, service?.tokenFile, service?.tokenCommand) > 1) {
      throw badConfiguration([`${locationOf(['service'])}: give only one of token, tokenFile and tokenCommand`])
    }
    if (countDefined(fleet?.passwordFile, fleet?.passwordCommand) > 1) {
      throw badConfiguration([`${locationOf(['fleet'])}: give only one of passwordFile and passwordCommand`])
    }
    if (fleet && !service) {
      throw badConfiguration([
        `${locationOf(['fleet'])}: a fleet needs a configured service, to whose libraries its hosts send; add the section "service"`,
      ])
    }
    return checked.data
  }
  const problems = describeProblems(checked.error.issues, raw, locationOf)
  throw problems.every(beginsWithFlag) ? new UsageError('bad-usage', problems.join('\n')) : badConfiguration(problems)
}

function countDefined(...values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined).length
}

function badConfiguration(problems: readonly string[]): UsageError {
  const inOrder = problems.toSorted((left, right) => left.localeCompare(right, 'en', { numeric: true }))
  return new UsageError('bad-configuration', `Cannot read the configuration: ${inOrder.join('\n')}`)
}

function assertSafe({ path, file, parsed }: FoundFile, { service, notify }: Settings): void {
  // An empty file decides nothing, so its owner does not matter.
  if (Object.keys(parsed.raw).length === 0) return
  assertTrusted(path, file)
  const hasToken = service.kind === 'configured' && service.token !== undefined
  if (hasToken || notify.webhooks.length > 0) assertPrivate(path, file)
}

/** Returns the state directory, even if the configuration is invalid: from flag, variable, or file if that can be parsed. */
export function findStateDir(input: SettingsInput): string {
  const { stateDir } = readOverrides(input.flags, input.env, input.cwd).raw
  return (typeof stateDir === 'string' ? stateDir : stateDirOfFile(input)) ?? defaultStateDir(input)
}

function stateDirOfFile({ flags, readFile = readTextFile, ...surroundings }: SettingsInput): string | undefined {
  try {
    const file = findConfigFile(flags.config, surroundings)
    const source = file === undefined ? undefined : readFile(file)
    if (file === undefined || source === undefined) return undefined
    assertTrusted(file, source)
    const { stateDir } = parse(file, source.text, surroundings).raw
    return typeof stateDir === 'string' ? stateDir : undefined
  } catch {
    return undefined // reading the whole configuration reports what is wrong with the file
  }
}
