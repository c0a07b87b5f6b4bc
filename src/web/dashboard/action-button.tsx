import { useAction } from '../common/loaded.tsx'
import type { DashboardClient } from './session.ts'

interface ActionButtonProps {
  readonly label: string
  /** The thing that is acted on, for screen readers, where the label alone does not say it. */
  readonly of?: string
  readonly isDisabled?: boolean
  /** `main` is what most come for, `submit` what Enter does in a field. */
  readonly kind?: 'main' | 'submit'
  run(): Promise<unknown>
}

export function ActionButton({ label, of, isDisabled = false, kind, run }: ActionButtonProps) {
  const { isRunning, failure, run: act } = useAction(run)
  const isUnavailable = isRunning || isDisabled
  return (
    <>
      <button
        type={kind === 'submit' ? 'submit' : 'button'}
        class={kind === 'main' ? 'main' : undefined}
        aria-label={of && `${label}: ${of}`}
        // The attribute "disabled" would take the focus away.
        aria-disabled={isUnavailable}
        onClick={() => isUnavailable || act()}
      >
        {label}
      </button>
      {failure !== '' && (
        <span class="state problem" role="alert">
          {failure}
        </span>
      )}
    </>
  )
}

/** Opens the original of a resource in a tab of its own, which cannot reach this page. */
export async function openDocument(client: DashboardClient, resourceId: string): Promise<void> {
  const { url } = await client.call('openDocument', { resourceId })
  // Any other address, such as one of javascript:, would run on this page.
  if (!/^https?:/.test(url)) throw new Error('The document has no address that can be opened')
  window.open(url, '_blank', 'noopener,noreferrer')
}
