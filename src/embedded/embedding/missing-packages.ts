import { createRequire } from 'node:module'

/** Which of these packages, which are not installed with the program or only optionally, the program does not find. */
export function missingPackages(names: readonly string[]): string[] {
  const { resolve } = createRequire(import.meta.url)
  return names.filter((name) => {
    try {
      return resolve(name) === ''
    } catch {
      return true
    }
  })
}
