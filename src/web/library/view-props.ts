/** What each view receives. */
export interface ViewProps {
  /** The address that was shown before. */
  readonly cameFrom: string
  /** Whether its heading takes the focus. */
  readonly takesFocus: boolean
}
