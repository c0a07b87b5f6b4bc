import { Fragment, options } from 'preact'
import { escapeShown } from './shown-text.ts'
import { asTyped } from './view.tsx'

/** Attributes that browsers show or read out. `value` is what a form sends, and stays true, as addresses do. */
const SHOWN = ['title', 'aria-label', 'alt', 'placeholder']

/**
 * Has every element of the page escape the texts that it shows, whoever wrote them: names on disk, the service, people. Only
 * elements with `data-content`, which show the text of a document, escape it by themselves.
 */
export function escapeElements(): void {
  options.vnode = ({ type, props }) => {
    if (typeof type === 'string' || type === Fragment) escapeProps(props as Record<string, unknown>)
  }
}

function escapeProps(props: Record<string, unknown>): void {
  for (const name of SHOWN) {
    if (name in props) props[name] = escapeChild(props[name])
  }
  if ('children' in props && !('data-content' in props)) props.children = escapeChild(props.children)
}

function escapeChild(child: unknown): unknown {
  if (typeof child === 'string') return escapeShown(asTyped(child))
  return Array.isArray(child) ? child.map(escapeChild) : child
}
