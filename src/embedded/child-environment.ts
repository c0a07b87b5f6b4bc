/** The environment of programs that read foreign files: without the variables of shelfd, and without Node flags for this process. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('SHELFD_') && name !== 'NODE_OPTIONS')
  return Object.fromEntries(kept)
}
