/** Whether systemd started this process as a service that says how it is; for others `--health-listen` and `--log-format` say so. */
export function isUnderServiceManager(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.NOTIFY_SOCKET)
}
