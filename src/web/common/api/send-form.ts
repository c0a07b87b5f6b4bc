import { unreachable } from './failure.ts'

/** How a request is followed and ended. */
export interface Following {
  readonly signal: AbortSignal
  /** The part of the bytes that has left, from 0 to 1. */
  onProgress(part: number): void
}

/** Posts a form. By XMLHttpRequest, since `fetch` does not report how much has left. Throws when it is aborted or no answer comes. */
export function sendForm(url: string, headers: Record<string, string>, form: FormData, following: Following) {
  const { signal, onProgress } = following
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    request.open('POST', url)
    request.responseType = 'json'
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () => resolve({ status: request.status, body: request.response })
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(signal.reason)
    request.onloadend = () => signal.removeEventListener('abort', abort)
    signal.addEventListener('abort', abort, { once: true })
    request.send(form)
  })
}
