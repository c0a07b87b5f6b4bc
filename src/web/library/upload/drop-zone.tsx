import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../common/icon.tsx'
import type { Dropped } from './upload-queue.ts'

interface DropZoneProps {
  readonly canUpload: boolean
  readonly heading: ComponentChildren
  readonly children: ComponentChildren
  onFiles(dropped: readonly Dropped[]): void
}

/** Shows a directory on which files can be dropped, with a button to choose files. */
export function DropZone({ canUpload, heading, children, onFiles }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    if (event.dataTransfer) onFiles(droppedIn(event.dataTransfer))
  }
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    setIsOver(true)
  }
  const handlers = canUpload ? { onDrop: drop, onDragOver: over, onDragLeave: () => setIsOver(false) } : {}
  return (
    <section class={isOver ? 'directory over' : 'directory'} {...handlers}>
      <div class="head">
        <div>{heading}</div>
        {canUpload ? <FileChoice onFiles={onFiles} /> : <p class="quiet">Your token may read here, but not upload.</p>}
      </div>
      {children}
    </section>
  )
}

function FileChoice({ onFiles }: Pick<DropZoneProps, 'onFiles'>) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <div class="file-choice">
      <input
        ref={field}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])].map((file) => ({ file, isFolder: false })))
          currentTarget.value = ''
        }}
      />
      <button type="button" onClick={() => field.current?.click()}>
        <Icon name="upload" /> Upload files
      </button>
      <span class="quiet">or drop them here</span>
    </div>
  )
}

function droppedIn(transfer: DataTransfer): Dropped[] {
  return [...transfer.items].flatMap((item) => {
    const file = item.getAsFile()
    return file ? [{ file, isFolder: item.webkitGetAsEntry()?.isDirectory ?? false }] : []
  })
}

/** Keeps the browser from leaving the page to open a file that is dropped outside of the drop zone. */
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
