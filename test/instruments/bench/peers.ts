/** Peers must not find anybody's configuration. */
export const RCLONE = ['rclone', '--config', '/dev/null', '--quiet'] as const
