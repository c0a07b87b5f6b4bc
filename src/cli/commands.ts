import type { Command } from './command.ts'

export interface CommandEntry {
  /** The name as typed: `sync`, `libraries create`. */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** What the commands of a group are about, by the words with which their names begin. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  failed: 'What was refused or could not be processed',
  mirrors: 'The mirrors, synced or not',
  libraries: 'The libraries of the service',
  library: 'The library on this computer',
  resource: 'One resource and its file',
  asset: 'What the service derived from a resource',
  'serve tokens': 'The access tokens of the embedded library',
  service: 'The daemon as a service of the system',
  notify: 'Notifications when something fails',
  fleet: 'Many hosts that mirror into the same libraries',
  config: 'The configuration',
}

// The modules that define several commands.
const failed = () => import('./commands/failed.ts')
const mirrors = () => import('./commands/mirrors.ts')
const pause = () => import('./commands/pause.ts')
const libraries = () => import('./commands/libraries.ts')
const library = () => import('./commands/library.ts')
const directories = () => import('./commands/ls-and-mkdir.ts')
const resource = () => import('./commands/resource.ts')
const asset = () => import('./commands/asset.ts')
const serve = () => import('./commands/serve.ts')
const tokens = () => import('./commands/tokens.ts')
const service = () => import('./commands/service.ts')
const fleet = () => import('./commands/fleet.ts')
const config = () => import('./commands/config.ts')

export const commands: readonly CommandEntry[] = [
  entry('sync', 'Send what is new and follow it until it is searchable', () => import('./commands/sync.ts')),
  entry('daemon', 'Keep the mirrors up to date until stopped', () => import('./commands/daemon.ts')),
  entry('report', 'Compare mirrors with their libraries, file by file', () => import('./commands/report.ts')),
  entry('status', 'Show what happens now', () => import('./commands/status.ts')),
  entry('dashboard', 'Show everything in a browser', () => import('./commands/dashboard.ts')),
  entry('why', 'Show everything that is known about one path', () => import('./commands/why.ts')),
  entry('get', 'Write documents back to files, compared with what was sent', () => import('./commands/get.ts')),
  entry('history', 'List past runs and how they ended', () => import('./commands/history.ts')),
  entry('failed list', 'List the files that were refused or could not be processed', failed, 'listCommand'),
  entry('failed show', 'Show everything that is known about a failed file', failed, 'showCommand'),
  entry('failed retry', 'Try failed files again with the next run', failed, 'retryCommand'),
  entry('failed ignore', 'Set failed files aside, so that they are not tried again', failed, 'ignoreCommand'),
  entry('mirrors list', 'List every mirror, and why some are not synced', mirrors, 'listCommand'),
  entry('mirrors show', 'Show one mirror', mirrors, 'showCommand'),
  entry('mirrors add', 'Write a mirror into the configuration file', mirrors, 'addCommand'),
  entry('mirrors remove', 'Take a mirror out of the configuration file', mirrors, 'removeCommand'),
  entry('mirrors forget', 'Forget what was mirrored, without deleting anything', mirrors, 'forgetCommand'),
  entry('pause', "Hold back the daemon's uploads", pause, 'pauseCommand'),
  entry('resume', "End a pause of the daemon's uploads", pause, 'resumeCommand'),
  entry('whoami', 'Show who the credential belongs to and what it may do', () => import('./commands/whoami.ts')),
  entry('libraries list', 'List the libraries this credential can read', libraries, 'listCommand'),
  entry('libraries create', 'Create a library', libraries, 'createCommand'),
  entry('libraries show', 'Show one library', libraries, 'showCommand'),
  entry('libraries delete', 'Delete a library and everything in it', libraries, 'deleteCommand'),
  entry('library prune', 'Remove documents without a file from the library on this computer', library, 'pruneCommand'),
  entry('library remove', 'Take documents out of the library on this computer for good', library, 'removeCommand'),
  entry('library embed', 'Compute the vectors by which searches compare meaning', serve, 'embedCommand'),
  entry('ls', 'List a directory of a library', directories, 'lsCommand'),
  entry('mkdir', 'Create a directory in a library', directories, 'mkdirCommand'),
  entry('resource show', 'Show a resource and its ingestion', resource, 'showCommand'),
  entry('resource download', 'Download the original file of a resource', resource, 'downloadCommand'),
  entry('resource url', 'Create a temporary URL for the original file of a resource', resource, 'urlCommand'),
  entry('asset download', 'Download an asset', asset, 'downloadCommand'),
  entry('asset url', 'Create a temporary URL for an asset', asset, 'urlCommand'),
  entry('asset scene', 'Download the collage of a scene of a video', asset, 'sceneCommand'),
  entry('asset frame', 'Download one frame of a video', asset, 'frameCommand'),
  entry('search', 'Search the libraries', () => import('./commands/search.ts')),
  entry('open', 'Open what a search found, or a file of a mirror', () => import('./commands/get.ts'), 'openCommand'),
  entry('api', 'Send any request with the configured credential', () => import('./commands/api.ts')),
  entry('mcp', 'Give agents such as desktop assistants access to the libraries', () => import('./commands/mcp.ts')),
  entry('serve', 'Run the embedded library as a server of its own', serve, 'serveCommand'),
  entry('serve check', 'Check the database and the stored files of the embedded library', serve, 'checkCommand'),
  entry('serve tokens create', 'Create an access token of the embedded library', tokens, 'createCommand'),
  entry('serve tokens list', 'List the access tokens of the embedded library', tokens, 'listCommand'),
  entry('serve tokens revoke', 'Revoke an access token of the embedded library', tokens, 'revokeCommand'),
  entry('init', 'Write a configuration, by questions or flags', () => import('./commands/init.ts')),
  entry('bug-report', 'Collect what is needed to find a fault', () => import('./commands/bug-report.ts')),
  entry('doctor', 'Check everything that shelfd needs', () => import('./commands/doctor.ts')),
  entry('notify test', 'Send a test message through every channel', () => import('./commands/notify.ts')),
  entry('service install', 'Have the service manager start the daemon', service, 'installCommand'),
  entry('service uninstall', 'Stop the daemon and remove its service', service, 'uninstallCommand'),
  entry('service start', 'Start the installed daemon', service, 'startCommand'),
  entry('service stop', 'Stop the installed daemon', service, 'stopCommand'),
  entry('service status', 'Show the state of the daemon as the service manager sees it', service, 'statusCommand'),
  entry('service logs', 'Show what the daemon logged', service, 'logsCommand'),
  entry('fleet init', 'Create the ledger that hosts share, or bring it up to date', fleet, 'initCommand'),
  entry('fleet upgrade', 'Bring the ledger up to date after an upgrade of shelfd', fleet, 'upgradeCommand'),
  entry('fleet status', 'Show the hosts that share the ledger', fleet, 'statusCommand'),
  entry('fleet hosts', 'Show what each host does', fleet, 'hostsCommand'),
  entry('fleet order', 'Have another host pause, resume or sync', fleet, 'orderCommand'),
  entry('fleet forget', 'Forget a host that will not come back', fleet, 'forgetCommand'),
  entry('completion', 'Print a script that completes commands in a shell', () => import('./commands/completion.ts')),
  entry('config show', 'Show the configuration that is in force', config, 'showCommand'),
  entry('config check', 'Say whether the configuration is right', config, 'checkCommand'),
  entry('config get', 'Print the value of one setting', config, 'getCommand'),
  entry('config set', 'Write one setting into the configuration file', config, 'setCommand'),
  entry('config unset', 'Remove one setting from the configuration file', config, 'unsetCommand'),
  entry('config path', 'Print where the configuration is read from', config, 'pathCommand'),
  entry('config schema', 'Print the JSON Schema of the configuration file', config, 'schemaCommand'),
]

function entry<Name extends string = 'command'>(
  name: string,
  summary: string,
  importModule: () => Promise<Readonly<Record<NoInfer<Name>, Command>>>,
  exportName = 'command' as Name,
): CommandEntry {
  return { name, summary, load: async () => (await importModule())[exportName] }
}
