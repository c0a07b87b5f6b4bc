/** What each view receives that its address describes. */
export interface ViewProps {
  readonly query: Readonly<Record<string, string>>
  /** Whether its heading takes the focus. */
  readonly takesFocus: boolean
}
