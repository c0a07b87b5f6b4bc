/** A command in a message of the server. */
const QUOTED = /(?<=")shelfd (?=[a-z-]+[ "])/g

/** Returns what users of this server type for the program. */
function typedProgram(): string {
  return document.querySelector('meta[name=program]')?.getAttribute('content') ?? 'shelfd'
}

/** Returns a text with the commands in it as they are typed. */
export function asTyped(text: string): string {
  return text.replaceAll(QUOTED, () => `${typedProgram()} `)
}

/** A command, such as `sync DIRECTORY`, as it is typed. */
export function Command({ children }: { readonly children: string }) {
  return (
    <code>
      {typedProgram()} {children}
    </code>
  )
}
