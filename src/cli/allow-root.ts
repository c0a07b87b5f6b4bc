import { UsageError } from '../foundation/errors.ts'
import type { ArgumentTable } from './command.ts'
import type { CommandContext } from './context.ts'

/** Options of the commands that send the files of mirrors. */
export const ROOT_OPTIONS = {
  'allow-root': { type: 'boolean', describe: 'Run as root, which can read the files of all users' },
} as const satisfies ArgumentTable

/**
 * Throws UsageError('running-as-root') for root, who can send the files of all users, without `--allow-root`, `SHELFD_ALLOW_ROOT` or
 * a system service. With the embedded library, which keeps everything on the machine, root only gets a warning.
 */
export function assertMayRun({ io, settings, logger }: CommandContext, isAllowed: boolean): void {
  const { SHELFD_ALLOW_ROOT = '' } = io.env
  if (io.uid !== 0 || isAllowed || ['1', 'true'].includes(SHELFD_ALLOW_ROOT) || isSystemService(io.env)) return
  if (settings.service.kind === 'embedded') {
    logger.warn('running as root, who can read the files of all users; --allow-root confirms that this is intended')
    return
  }
  const ways = [
    'run it as the user whose files are mirrored',
    'as a service of the system (shelfd service install --system)',
    'or with --allow-root or SHELFD_ALLOW_ROOT=1, as in a container',
  ]
  const why = 'it could read and send the files of all users'
  throw new UsageError(
    'running-as-root',
    `Cannot mirror to ${settings.service.origin} as root: ${why}; ${ways.join(', ')}`,
  )
}

/** Recognizes a systemd unit with a state directory, for which systemd sets both variables; a root shell has at most the first. */
function isSystemService({ INVOCATION_ID, STATE_DIRECTORY }: CommandContext['io']['env']): boolean {
  return Boolean(INVOCATION_ID) && Boolean(STATE_DIRECTORY)
}
