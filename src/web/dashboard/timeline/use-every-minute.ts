import { useEffect, useState } from 'preact/hooks'

const MINUTE_MS = 60_000

/** Counts the minutes since the view was opened, so that it follows the time. */
export function useEveryMinute(): number {
  const [minutes, setMinutes] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setMinutes((count) => count + 1), MINUTE_MS)
    return () => clearInterval(timer)
  }, [])
  return minutes
}
