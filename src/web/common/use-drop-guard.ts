import { useLayoutEffect } from 'preact/hooks'

/** Keeps the browser from leaving the page for a file that is dropped beside the place for it. */
export function useDropGuard(): void {
  useLayoutEffect(() => {
    const guard = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
    }
    addEventListener('dragover', guard)
    addEventListener('drop', guard)
    return () => {
      removeEventListener('dragover', guard)
      removeEventListener('drop', guard)
    }
  }, [])
}
