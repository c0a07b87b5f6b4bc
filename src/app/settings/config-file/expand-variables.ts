import type { Environment } from '../overrides.ts'

/**
 * `text` with `${NAME}` and `${NAME:-default}` replaced from the environment (`$${` stays `${`). Calls `onUnset`
 * with the name of each variable that has neither a value nor a default.
 */
export function expandVariables(text: string, env: Environment, onUnset: (name: string) => void): string {
  return text.replace(
    /\$(\$\{)|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g,
    (_, escaped?: string, name = '', other?: string) => {
      if (escaped) return escaped
      const value = other === undefined ? env[name] : env[name] || other
      if (value === undefined) onUnset(name)
      return value ?? ''
    },
  )
}
