import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ApiClient } from '../api-client.ts'
import { type Upload, UploadQueue } from './upload-queue.ts'

export interface Dropped {
  readonly file: File
  readonly isFolder: boolean
}

const FOLDER = 'This is a folder. Open it and choose the files in it, or let shelfd mirror it.'

export type Uploads = ReturnType<typeof useUploads>

export function useUploads(api: ApiClient) {
  const [all, setAll] = useState<readonly Upload[]>([])
  const queue = useMemo(() => new UploadQueue(api, setAll), [api])
  useEffect(() => () => queue.stop(), [queue])
  useWarning(all.some(({ state }) => state.kind === 'waiting' || state.kind === 'sending'))
  return {
    all,
    /** Takes what was dropped; refuses a folder with a message. */
    add: (library: string, directory: string, dropped: readonly Dropped[]) => {
      for (const { file } of dropped.filter(({ isFolder }) => isFolder)) queue.refuse(library, directory, file, FOLDER)
      const files = dropped.filter(({ isFolder }) => !isFolder).map(({ file }) => file)
      queue.add(library, directory, files)
    },
    retry: (number: number) => queue.retry(number),
    clear: () => queue.clear(),
    storedIn: (library: string, directory: string) => {
      const here = all.filter((upload) => upload.library === library && upload.directory === directory)
      return here.filter(({ state }) => state.kind === 'stored').length
    },
  }
}

/** The browser asks before it leaves a page whose files have not all been sent. */
function useWarning(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isNeeded])
}
