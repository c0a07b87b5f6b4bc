/** Patterns of files that no library needs, in gitignore syntax. Every rule of the user outweighs them: `!` brings a name back. */

const EDITOR_LITTER = [
  '*~',
  '.#*',
  '[#]*#',
  '*.swp',
  '*.swo',
  '.*.sw[a-n]',
  '~$*',
  '.~*',
  '*.tmp',
  '*.bak~',
  '*.kate-swp',
]

const PARTIAL_DOWNLOADS = ['*.partial', '*.part', '*.crdownload', '*.download', '*.opdownload', '*.!ut', '*.aria2']

const SYSTEM_LITTER = [
  '.DS_Store',
  '._*',
  '.AppleDouble',
  '.LSOverride',
  '.Spotlight-V100',
  '.Trashes',
  '.fseventsd',
  '.TemporaryItems',
  '.DocumentRevisions-V100',
  '[Dd]esktop.ini',
  '[Tt]humbs.db',
  'ehthumbs.db',
  '$RECYCLE.BIN/',
  'System Volume Information/',
  'lost+found/',
  '.Trash-*/',
  '.directory',
  '.nfs[0-9a-f]*',
  '.fuse_hidden*',
]

const SYNC_LITTER = [
  '@eaDir/',
  '.stversions/',
  '.stfolder',
  '.stignore',
  '.syncthing.*.tmp',
  '.sync/',
  '.dropbox',
  '.dropbox.*',
  '.nextcloudsync.log',
  '.owncloudsync.log',
  '.sync_*.db*',
  '._sync_*.db*',
  '.csync_journal.db*',
  '.shelfdignore',
]

const VERSION_CONTROL = ['.git', '.hg/', '.svn/', '.bzr/', 'CVS/', '.jj/', '_darcs/', '.fslckout']

const REBUILT_BY_TOOLS = ['node_modules/', '__pycache__/']

export const BUILT_IN_LITTER: readonly string[] = [
  ...EDITOR_LITTER,
  ...PARTIAL_DOWNLOADS,
  ...SYSTEM_LITTER,
  ...SYNC_LITTER,
  ...VERSION_CONTROL,
  ...REBUILT_BY_TOOLS,
]

/** `*.key` also ignores Keynote presentations, which the report lists as ignored: that does less harm than an uploaded key. */
const PRIVATE_KEYS = [
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ecdsa_sk',
  'id_ed25519',
  'id_ed25519_sk',
  '*_rsa',
  '*_dsa',
  '*_ecdsa',
  '*_ed25519',
  '*.key',
  '*key.pem',
  'privkey*.pem',
  '*.ppk',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdb',
  '*.kdbx',
  '.ssh/',
  '.gnupg/',
  '.password-store/',
]

const CREDENTIAL_FILES = [
  '.env',
  '.env.*',
  '.envrc',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.pypirc',
  '.yarnrc.yml',
  '.git-credentials',
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  '.htpasswd',
  '.vault-token',
  '.terraformrc',
  'terraform.rc',
  '.s3cfg',
  '.boto',
  '.dockercfg',
  '.rclone.conf',
  'rclone.conf',
  'credentials.json',
  'client_secret*.json',
  'application_default_credentials.json',
  '**/.aws/credentials',
  '**/.azure/accessTokens.json',
  '**/.cargo/credentials',
  '**/.cargo/credentials.toml',
  '**/.config/gh/hosts.yml',
  '**/.config/shelfd/token',
  '**/.docker/config.json',
  '**/.gem/credentials',
  '**/.kube/config',
  '**/.m2/settings.xml',
]

export const BUILT_IN_SECRETS: readonly string[] = [...PRIVATE_KEYS, ...CREDENTIAL_FILES]
