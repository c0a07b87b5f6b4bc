interface Shared {
  readonly listeners: Set<() => void>
  readonly callAll: () => void
}

const sharedOf = new WeakMap<AbortSignal, Shared>()

/**
 * Calls `listener` when the signal is aborted, until the result is disposed. All listeners of a signal share one of Node's, which
 * takes several microseconds to add and to remove.
 */
export function onAbort(signal: AbortSignal, listener: () => void): Disposable {
  const { listeners, callAll } = sharedOf.get(signal) ?? share(signal)
  if (listeners.size === 0) signal.addEventListener('abort', callAll)
  listeners.add(listener)
  return {
    [Symbol.dispose]: () => {
      if (listeners.delete(listener) && listeners.size === 0) signal.removeEventListener('abort', callAll)
    },
  }
}

function share(signal: AbortSignal): Shared {
  const listeners = new Set<() => void>()
  const callAll = () => {
    for (const listener of [...listeners]) listener()
  }
  const shared = { listeners, callAll }
  sharedOf.set(signal, shared)
  return shared
}
