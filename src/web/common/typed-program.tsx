/** A command in a message of the server. */
const QUOTED = /(?<=")shelfd (?=[a-z-]+[ "])/g

/** Returns what users of this server type for the program. */
function typedProgram(): string {
  return document.querySelector('meta[name=program]')?.getAttribute('content') ?? 'shelfd'
}

export function asTyped(text: string): string {
  return text.replaceAll(QUOTED, () => `${typedProgram()} `)
}

export function Command({ children }: { readonly children: string }) {
  return (
    <code>
      {typedProgram()} {children}
    </code>
  )
}
