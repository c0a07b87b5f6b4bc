/** What machines and accounts of other people are like. */
export interface Row {
  readonly name: string
  readonly says: string
  /** `root`, or a user of this row alone, with a home directory of mode 0700. */
  readonly user: 'root' | 'ordinary'
  /** The checkout lies below a directory of mode 0700, in a path with a blank and an umlaut, or on another file system than /tmp. */
  readonly place: 'closed' | 'odd-path' | 'other-disk'
  /** Nothing but npm and git beside Debian's essential packages, or all that this machine has. */
  readonly programs: 'bare' | 'all'
  readonly umask?: string
  readonly env?: Readonly<Record<string, string>>
  /** Configurations of somebody else in /etc/shelfd and in the home directory. */
  readonly isConfigured?: boolean
  /** A daemon of the account runs meanwhile. */
  readonly hasDaemon?: boolean
  /** PATH begins with a directory that the user cannot read. */
  readonly hasClosedPath?: boolean
  readonly hasNoIpv6?: boolean
  /** The major version of the Node that npm runs on. */
  readonly node?: number
  /** Busy loops a processor. */
  readonly load?: number
}

const SHELL = {
  SHELFD_SERVICE_URL: 'https://library.example',
  SHELFD_TOKEN: 'a-token-of-somebody-else',
  SHELFD_STATE_DIR: '/nonexistent/state',
  SHELFD_NEW_PER_RUN: '1',
  XDG_CONFIG_HOME: '/nonexistent/config',
  XDG_STATE_HOME: '/nonexistent/state',
  XDG_DATA_HOME: '/nonexistent/data',
  XDG_CACHE_HOME: '/nonexistent/cache',
  XDG_RUNTIME_DIR: '/nonexistent/run',
}

export const ROWS: readonly Row[] = [
  {
    name: 'worst',
    says: 'all that is odd at once; part of .ci/run',
    ...{ user: 'ordinary', place: 'odd-path', programs: 'bare', umask: '077' },
    ...{ isConfigured: true, hasDaemon: true, hasClosedPath: true },
    env: { ...SHELL, LANG: 'C', LC_ALL: 'de_DE.UTF-8', TZ: 'Pacific/Apia', FORCE_COLOR: '1', CI: 'true' },
  },
  { name: 'root', says: 'root in /root/x', user: 'root', place: 'closed', programs: 'all' },
  {
    name: 'ordinary',
    says: 'a contributor with every program',
    ...{ user: 'ordinary', place: 'closed', programs: 'all', umask: '027', env: { LC_ALL: 'de_DE.UTF-8' } },
  },
  {
    name: 'bare-root',
    says: 'root of a container: another file system, no IPv6',
    ...{ user: 'root', place: 'other-disk', programs: 'bare', hasNoIpv6: true, env: { CI: '1', LANG: 'C' } },
  },
  ...[20, 22, 24, 26].map(
    (node): Row => ({
      name: `node-${node}`,
      says: `npm on Node ${node}`,
      ...{ user: 'ordinary', place: 'closed', programs: 'bare', node },
    }),
  ),
  {
    name: 'load',
    says: 'two busy loops a processor beside it',
    ...{ user: 'ordinary', place: 'closed', programs: 'all', load: 2 },
  },
]
