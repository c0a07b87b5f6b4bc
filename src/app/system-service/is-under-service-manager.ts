/** Whether systemd started this process as a notifying service; for others, set `--health-listen` and `--log-format`. */
export function isUnderServiceManager(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.NOTIFY_SOCKET)
}
