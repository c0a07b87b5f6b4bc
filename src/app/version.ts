import packageJson from '../../package.json' with { type: 'json' }

/** The version of shelfd. */
export const version: string = packageJson.version
