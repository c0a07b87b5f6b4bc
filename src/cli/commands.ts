import type { Command } from './command.ts'

export interface CommandEntry {
  /** As typed: `sync`, `libraries create`. */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Summaries of groups of commands, by their shared first words. */
export const GROUP_SUMMARIES: Readonly<Record<string, string>> = {
  failed: 'What was refused or could not be processed',
  mirrors: 'The mirrors, synced or not',
  libraries: 'The libraries of the service',
  resource: 'What one upload became',
  asset: 'What the service derived from a resource',
  'serve tokens': 'The access tokens of the embedded library',
  service: 'The daemon as a service of the system',
  notify: 'Who is told when something fails',
  config: 'The configuration',
}

/** All commands in the order of the help. Only the command that runs is loaded. */
export const commands: readonly CommandEntry[] = [
  entry('sync', 'Send what is new and follow it until it is searchable', () => import('./commands/sync.ts')),
  entry('daemon', 'Keep the mirrors up to date until stopped', () => import('./commands/daemon.ts')),
  entry('report', 'Compare both sides, file by file', () => import('./commands/report.ts')),
  entry('status', 'Show what happens now', () => import('./commands/status.ts')),
  entry('dashboard', 'Show everything in a browser', () => import('./commands/dashboard.ts')),
  entry('why', 'Show everything known of one path', () => import('./commands/why.ts')),
  entry('history', 'List past runs and how they ended', () => import('./commands/history.ts')),
  entry(
    'failed list',
    'List the files that were refused or could not be processed',
    () => import('./commands/failed/list.ts'),
  ),
  entry('failed show', 'Show everything known of a content that went wrong', () => import('./commands/failed/show.ts')),
  entry(
    'failed retry',
    'Try files that went wrong again with the next run',
    () => import('./commands/failed/retry.ts'),
  ),
  entry('failed ignore', 'Set files aside that went wrong', () => import('./commands/failed/ignore.ts')),
  entry('mirrors list', 'List every mirror, and why some are not synced', () => import('./commands/mirrors/list.ts')),
  entry('mirrors show', 'Show one mirror', () => import('./commands/mirrors/show.ts')),
  entry('mirrors forget', 'Forget what was mirrored, and delete nothing', () => import('./commands/mirrors/forget.ts')),
  entry('pause', "Hold back the daemon's uploads", () => import('./commands/pause.ts')),
  entry('resume', "End a pause of the daemon's uploads", () => import('./commands/resume.ts')),
  entry('whoami', 'Show who the credential belongs to and what it may do', () => import('./commands/remote/whoami.ts')),
  entry('libraries list', 'List the libraries this credential can read', () => import('./commands/libraries/list.ts')),
  entry('libraries create', 'Create a library', () => import('./commands/libraries/create.ts')),
  entry('libraries show', 'Show one library', () => import('./commands/libraries/show.ts')),
  entry('libraries delete', 'Delete a library and everything in it', () => import('./commands/libraries/delete.ts')),
  entry('ls', 'List a directory of a library', () => import('./commands/remote/ls.ts')),
  entry('mkdir', 'Create a directory in a library', () => import('./commands/remote/mkdir.ts')),
  entry('resource show', 'Show a resource and its ingestion', () => import('./commands/resource/show.ts')),
  entry(
    'resource download',
    'Download the original file of a resource',
    () => import('./commands/resource/download.ts'),
  ),
  entry(
    'resource url',
    'Create a temporary URL for the original file of a resource',
    () => import('./commands/resource/url.ts'),
  ),
  entry('asset download', 'Download an asset', () => import('./commands/asset/download.ts')),
  entry('asset url', 'Create a temporary URL for an asset', () => import('./commands/asset/url.ts')),
  entry('asset scene', 'Download the collage of a scene of a video', () => import('./commands/asset/scene.ts')),
  entry('asset frame', 'Download one frame of a video', () => import('./commands/asset/frame.ts')),
  entry('search', 'Search the libraries', () => import('./commands/remote/search.ts')),
  entry('api', 'Send any request with the configured credential', () => import('./commands/remote/api.ts')),
  entry(
    'mcp',
    'Give agents such as desktop assistants access to the libraries',
    () => import('./commands/remote/mcp.ts'),
  ),
  entry('serve', 'Run the embedded library as a server of its own', () => import('./commands/serve.ts')),
  entry(
    'serve check',
    'Check the database and the stored files of the embedded library',
    () => import('./commands/serve/check.ts'),
  ),
  entry(
    'serve tokens create',
    'Create an access token of the embedded library',
    () => import('./commands/serve/tokens/create.ts'),
  ),
  entry(
    'serve tokens list',
    'List the access tokens of the embedded library',
    () => import('./commands/serve/tokens/list.ts'),
  ),
  entry(
    'serve tokens revoke',
    'Revoke an access token of the embedded library',
    () => import('./commands/serve/tokens/revoke.ts'),
  ),
  entry('init', 'Write a configuration, by questions or flags', () => import('./commands/setup/init.ts')),
  entry('bug-report', 'Collect what someone needs to find a fault', () => import('./commands/setup/bug-report.ts')),
  entry('doctor', 'Check everything that shelfd needs', () => import('./commands/setup/doctor.ts')),
  entry('notify test', 'Send a test message to those who are told', () => import('./commands/notify/test.ts')),
  entry('service install', 'Have the service manager start the daemon', () => import('./commands/service/install.ts')),
  entry('service uninstall', 'Stop the daemon and remove its service', () => import('./commands/service/uninstall.ts')),
  entry('service start', 'Start the installed daemon', () => import('./commands/service/start.ts')),
  entry('service stop', 'Stop the installed daemon', () => import('./commands/service/stop.ts')),
  entry(
    'service status',
    'Show the state of the daemon as the service manager sees it',
    () => import('./commands/service/status.ts'),
  ),
  entry('service logs', 'Show what the daemon logged', () => import('./commands/service/logs.ts')),
  entry('completion', 'Print a script that completes commands in a shell', () => import('./commands/completion.ts')),
  entry('config show', 'Show the configuration that is in force', () => import('./commands/config/show.ts')),
  entry('config path', 'Print where the configuration is read from', () => import('./commands/config/path.ts')),
  entry(
    'config schema',
    'Print the JSON Schema of the configuration file',
    () => import('./commands/config/schema.ts'),
  ),
]

function entry(
  name: string,
  summary: string,
  importModule: () => Promise<{ readonly command: Command }>,
): CommandEntry {
  return { name, summary, load: async () => (await importModule()).command }
}
