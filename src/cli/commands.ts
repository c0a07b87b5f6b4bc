import type { Command } from './command.ts'

export interface CommandEntry {
  /** As typed: `sync`, `libraries create`. */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Every command, in the order of the help; only the one that runs is loaded. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'sync',
    summary: 'Send what is new and follow it until it is searchable',
    load: async () => (await import('./commands/sync.ts')).syncCommand,
  },
  {
    name: 'daemon',
    summary: 'Keep the mirrors up to date until stopped',
    load: async () => (await import('./commands/daemon.ts')).daemonCommand,
  },
  {
    name: 'report',
    summary: 'Compare both sides, file by file',
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
  {
    name: 'status',
    summary: 'Show what is going on now',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    name: 'why',
    summary: 'Show everything known of one path',
    load: async () => (await import('./commands/why.ts')).whyCommand,
  },
  {
    name: 'failed list',
    summary: 'List the files that were refused or could not be processed',
    load: async () => (await import('./commands/failed-list.ts')).failedListCommand,
  },
  {
    name: 'failed show',
    summary: 'Show everything known of a content that went wrong',
    load: async () => (await import('./commands/failed-show.ts')).failedShowCommand,
  },
  {
    name: 'failed retry',
    summary: 'Try files that went wrong again with the next run',
    load: async () => (await import('./commands/failed-retry.ts')).failedRetryCommand,
  },
  {
    name: 'failed ignore',
    summary: 'Set files aside that went wrong',
    load: async () => (await import('./commands/failed-ignore.ts')).failedIgnoreCommand,
  },
  {
    name: 'mirrors list',
    summary: 'List every mirror, and why some are not synced',
    load: async () => (await import('./commands/mirrors-list.ts')).mirrorsListCommand,
  },
  {
    name: 'mirrors show',
    summary: 'Show one mirror',
    load: async () => (await import('./commands/mirrors-show.ts')).mirrorsShowCommand,
  },
  {
    name: 'mirrors forget',
    summary: 'Forget what was mirrored, and delete nothing',
    load: async () => (await import('./commands/mirrors-forget.ts')).mirrorsForgetCommand,
  },
  {
    name: 'pause',
    summary: "Hold back the daemon's uploads",
    load: async () => (await import('./commands/pause.ts')).pauseCommand,
  },
  {
    name: 'resume',
    summary: "Let the daemon's uploads go on",
    load: async () => (await import('./commands/resume.ts')).resumeCommand,
  },
  {
    name: 'whoami',
    summary: 'Show who the credential belongs to and what it may do',
    load: async () => (await import('./commands/whoami.ts')).whoamiCommand,
  },
  {
    name: 'libraries list',
    summary: 'List the libraries',
    load: async () => (await import('./commands/libraries-list.ts')).librariesListCommand,
  },
  {
    name: 'libraries create',
    summary: 'Create a library',
    load: async () => (await import('./commands/libraries-create.ts')).librariesCreateCommand,
  },
  {
    name: 'libraries show',
    summary: 'Show one library',
    load: async () => (await import('./commands/libraries-show.ts')).librariesShowCommand,
  },
  {
    name: 'libraries delete',
    summary: 'Delete a library and everything in it',
    load: async () => (await import('./commands/libraries-delete.ts')).librariesDeleteCommand,
  },
  {
    name: 'ls',
    summary: 'List a directory of a library',
    load: async () => (await import('./commands/ls.ts')).lsCommand,
  },
  {
    name: 'mkdir',
    summary: 'Make a directory in a library',
    load: async () => (await import('./commands/mkdir.ts')).mkdirCommand,
  },
  {
    name: 'resource show',
    summary: 'Show a resource and its ingestion',
    load: async () => (await import('./commands/resource-show.ts')).resourceShowCommand,
  },
  {
    name: 'resource download',
    summary: 'Download the original file of a resource',
    load: async () => (await import('./commands/resource-download.ts')).resourceDownloadCommand,
  },
  {
    name: 'resource url',
    summary: 'Make a temporary URL for the original file of a resource',
    load: async () => (await import('./commands/resource-url.ts')).resourceUrlCommand,
  },
  {
    name: 'asset download',
    summary: 'Download an asset',
    load: async () => (await import('./commands/asset-download.ts')).assetDownloadCommand,
  },
  {
    name: 'asset url',
    summary: 'Make a temporary URL for an asset',
    load: async () => (await import('./commands/asset-url.ts')).assetUrlCommand,
  },
  {
    name: 'asset scene',
    summary: 'Download the collage of a scene of a video',
    load: async () => (await import('./commands/asset-picture.ts')).assetSceneCommand,
  },
  {
    name: 'asset frame',
    summary: 'Download one frame of a video',
    load: async () => (await import('./commands/asset-picture.ts')).assetFrameCommand,
  },
  {
    name: 'search',
    summary: 'Search the libraries',
    load: async () => (await import('./commands/search.ts')).searchCommand,
  },
  {
    name: 'api',
    summary: 'Make any request with the configured credential',
    load: async () => (await import('./commands/api.ts')).apiCommand,
  },
  {
    name: 'serve',
    summary: 'Run the embedded library as a server of its own',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  {
    name: 'serve tokens create',
    summary: 'Create an access token of the embedded library',
    load: async () => (await import('./commands/serve-tokens-create.ts')).serveTokensCreateCommand,
  },
  {
    name: 'serve tokens list',
    summary: 'List the access tokens of the embedded library',
    load: async () => (await import('./commands/serve-tokens-list.ts')).serveTokensListCommand,
  },
  {
    name: 'serve tokens revoke',
    summary: 'Revoke an access token of the embedded library',
    load: async () => (await import('./commands/serve-tokens-revoke.ts')).serveTokensRevokeCommand,
  },
  {
    name: 'service install',
    summary: 'Have the service manager start the daemon',
    load: async () => (await import('./commands/service-install.ts')).serviceInstallCommand,
  },
  {
    name: 'service uninstall',
    summary: 'Stop the daemon and have it started no more',
    load: async () => (await import('./commands/service-uninstall.ts')).serviceUninstallCommand,
  },
  {
    name: 'service start',
    summary: 'Start the installed daemon',
    load: async () => (await import('./commands/service-start.ts')).serviceStartCommand,
  },
  {
    name: 'service stop',
    summary: 'Stop the installed daemon',
    load: async () => (await import('./commands/service-stop.ts')).serviceStopCommand,
  },
  {
    name: 'service status',
    summary: 'Show what the service manager says of the daemon',
    load: async () => (await import('./commands/service-status.ts')).serviceStatusCommand,
  },
  {
    name: 'service logs',
    summary: 'Show what the daemon logged',
    load: async () => (await import('./commands/service-logs.ts')).serviceLogsCommand,
  },
  {
    name: 'config show',
    summary: 'Show the configuration that is in force',
    load: async () => (await import('./commands/config-show.ts')).configShowCommand,
  },
  {
    name: 'config path',
    summary: 'Print where the configuration is read from',
    load: async () => (await import('./commands/config-path.ts')).configPathCommand,
  },
  {
    name: 'config schema',
    summary: 'Print the JSON Schema of the configuration file',
    load: async () => (await import('./commands/config-schema.ts')).configSchemaCommand,
  },
]
