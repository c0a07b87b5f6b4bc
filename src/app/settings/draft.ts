import { dirname } from 'node:path'
import { ownUid } from '../../foundation/files/ownership.ts'
import { ownershipOf, type ReadTextFile, readTextFile, type TextFile } from '../files/private-files.ts'
import type { Surroundings } from './config-paths.ts'
import { readSettings } from './read-settings.ts'
import { EMBEDDED_MIRROR_DEFAULTS } from './schema.ts'
import type { ClientCertificateFiles, Settings } from './settings.ts'

export interface ChosenMirror {
  readonly name: string
  /** Absolute, or below `~`. */
  readonly path: string
  readonly library: string
  readonly remotePath: string
  readonly gitignore?: boolean
}

export interface ChosenService {
  readonly url: string
  /** Undefined when the token comes from the environment. */
  readonly tokenFile: string | undefined
  readonly caFile: string | undefined
  readonly clientCertificate: ClientCertificateFiles | undefined
}

export interface ChosenConfig {
  /** Undefined for the embedded library. */
  readonly service: ChosenService | undefined
  readonly mirrors: readonly ChosenMirror[]
}

/** Renders a configuration file whose comments explain its keys. */
export function renderConfig({ service, mirrors }: ChosenConfig): string {
  return [
    '# shelfd configuration, written by "shelfd init". "shelfd config show" shows every key with its value in force,',
    '# "shelfd config schema" describes them all. ~ is the home directory. Flags and SHELFD_* variables override this file.',
    '',
    ...(service ? renderService(service) : EMBEDDED),
    '',
    '# Local directories, only ever read, and where they go. Nothing else is sent.',
    `# A daemon sends a file once it has not changed for the time of "settle", by default ${service ? '1m, because each version can cost credits' : EMBEDDED_MIRROR_DEFAULTS.settle}.`,
    mirrors.length === 0 ? 'mirrors: []' : 'mirrors:',
    ...mirrors.flatMap(renderMirror),
    '',
    ...(service ? LIMITS : []),
  ].join('\n')
}

const EMBEDDED = [
  '# Without a service the library on this computer is used. For a Knowledge Library Service:',
  '# service:',
  '#   url: https://library.example.com',
  '#   tokenFile: ~/.config/shelfd/token # the access token and nothing else, mode 0600',
]

const LIMITS = [
  '# New files can cost credits. Each run reports the files that a limit holds back, and a later run sends them.',
  'limits:',
  '  newPerRun: 5000 # new files sent in one run; or none',
  '  newPerDay: 20000 # new files sent in 24 hours; or none',
  '',
]

function renderService({ url, tokenFile, caFile, clientCertificate }: ChosenService): string[] {
  return [
    'service:',
    `  url: ${quote(url)} # origin only`,
    tokenFile === undefined
      ? '  # The access token comes from the environment (SHELFD_TOKEN, SHELFD_TOKEN_FILE); or: tokenFile: FILE'
      : `  tokenFile: ${quote(tokenFile)} # the access token and nothing else, mode 0600`,
    ...(caFile === undefined ? [] : [`  caFile: ${quote(caFile)} # further certificate authorities to trust`]),
    ...(clientCertificate ? renderClientCertificate(clientCertificate) : []),
  ]
}

function renderClientCertificate({ certFile, keyFile, passphraseFile }: ClientCertificateFiles): string[] {
  return [
    '  clientCertificate: # which the service demands',
    `    certFile: ${quote(certFile)}`,
    `    keyFile: ${quote(keyFile)} # mode 0600`,
    ...(passphraseFile === undefined ? [] : [`    passphraseFile: ${quote(passphraseFile)} # mode 0600`]),
  ]
}

function renderMirror({ name, path, library, remotePath, gitignore }: ChosenMirror): string[] {
  return [
    `  - name: ${quote(name)}`,
    `    path: ${quote(path)}`,
    `    library: ${quote(library)} # identifier or exact name`,
    `    remotePath: ${quote(remotePath)} # path of the directory in the library`,
    '    # ignore: ["*.bak"] # gitignore syntax, added to .shelfdignore files and the built-in list',
    `    ${gitignore ? '' : '# '}gitignore: true # also leave out what .gitignore files list`,
    '    # schedule: "0 2 * * *" # daemon: send in batches at these times instead of at once; five-field cron',
  ]
}

/** Writes a text as a YAML value. `${` is escaped, so that no variable is replaced. */
function quote(text: string): string {
  const isPlain = /^(?:https?:\/\/|~?\/)[\w./~-]*(?::\d+)?$/.test(text) || /^[A-Z][a-z]+$/.test(text)
  const isWord = /^(?:null|true|false|yes|no|on|off|y|n)$/i.test(text)
  return isPlain && !isWord ? text : JSON.stringify(text.replaceAll('${', () => '$${'))
}

/** A configuration that exists only in memory. It is tried before anything is written. */
export interface Draft {
  readonly configFile: string
  readonly configText: string
  /** Reads the drafted files as if they existed, and others from the disk. */
  readonly readFile: ReadTextFile
  /** Reads the drafted configuration as every command will read it; throws UsageError. */
  readSettings(): Settings
}

interface DraftInput {
  readonly configFile: string
  readonly chosen: ChosenConfig
  /** A token that is still to be written, and its file. */
  readonly token: { readonly file: string; readonly text: string } | undefined
  readonly stateDir: string | undefined
}

export function createDraft({ configFile, chosen, token, stateDir }: DraftInput, surroundings: Surroundings): Draft {
  const configText = renderConfig(chosen)
  const readFile: ReadTextFile = (file) => {
    if (file === configFile) return asPrivateFile(file, configText)
    return file === token?.file ? { ...asPrivateFile(file, token.text), origin: 'what you typed' } : readTextFile(file)
  }
  const flags = { config: configFile, ...(stateDir !== undefined && { 'state-dir': stateDir }) }
  return { configFile, configText, readFile, readSettings: () => readSettings({ ...surroundings, flags, readFile }) }
}

/** Returns a file as shelfd would write it: only this user can read it. */
export function asPrivateFile(file: string, text: string): TextFile {
  const owner = { uid: ownUid() ?? 0, gid: 0 }
  return {
    text,
    ownership: { ...owner, mode: 0o600 },
    directory: ownershipOf(dirname(file)) ?? { ...owner, mode: 0o700 },
  }
}

/** Returns a function that reads this text in place of `file`, and other files from the disk. */
export function asIfWritten(file: string, before: TextFile, text: string): ReadTextFile {
  return (name) => (name === file ? { ...before, text } : readTextFile(name))
}
