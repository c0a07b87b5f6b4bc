import { useState } from 'preact/hooks'
import { wordsOf } from '../common/api/failure.ts'

interface ActionButtonProps {
  readonly words: string
  /** What is acted on, for screen readers, where the words alone do not say it. */
  readonly of?: string
  readonly isDisabled?: boolean
  run(): Promise<unknown>
}

/** A button that does something at the server, and says so when that failed. */
export function ActionButton({ words, of, isDisabled = false, run }: ActionButtonProps) {
  const [isRunning, setIsRunning] = useState(false)
  const [failure, setFailure] = useState('')
  const act = async () => {
    setIsRunning(true)
    setFailure('')
    try {
      await run()
    } catch (error) {
      setFailure(wordsOf(error))
    }
    setIsRunning(false)
  }
  return (
    <>
      <button type="button" aria-label={of && `${words}: ${of}`} disabled={isRunning || isDisabled} onClick={act}>
        {words}
      </button>
      {failure !== '' && (
        <span class="state problem" role="alert">
          {failure}
        </span>
      )}
    </>
  )
}
