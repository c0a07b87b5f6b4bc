/** Variables that decide where tests have their files and how long they run. */
const KEPT =
  /^SHELFD_(?:RUN_ALL_TESTS|TEST|(?:SIMULATION|FLEET|PROTOCOL)_SEEDS|SIGNALS|OUTAGE_MINUTES|CHURN_|FUZZ_|PLANTED_BUG)/

const OF_THE_SHELL = /^(?:XDG_.*|LC_.*|LANG(?:UAGE)?|TZ|FORCE_COLOR|NO_COLOR|CLICOLOR(?:_FORCE)?)$/

/** Removes what this account or shell has set up for itself, so that no test sees it: where configuration lies, language, time zone. */
export function forgetSurroundings(): void {
  for (const name of Object.keys(process.env)) {
    const isOurs = name.startsWith('SHELFD_') && !KEPT.test(name)
    if (isOurs || OF_THE_SHELL.test(name)) delete process.env[name]
  }
  process.umask(0o022)
}
