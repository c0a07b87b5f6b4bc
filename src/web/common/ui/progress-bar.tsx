/** `part` from 0 to 1; undefined while nothing is known. */
export function ProgressBar({ label, part }: { readonly label: string; readonly part: number | undefined }) {
  return part === undefined ? <progress aria-label={label} /> : <progress aria-label={label} value={part} max={1} />
}
