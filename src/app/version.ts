import { createRequire } from 'node:module'

const packageJson: { version: string } = createRequire(import.meta.url)('../../package.json')

/** The version of shelfd. */
export const version = packageJson.version
