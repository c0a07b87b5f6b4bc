import { createRequire } from 'node:module'

const packageJson: { version: string } = createRequire(import.meta.url)('../../package.json')

export const version = packageJson.version
