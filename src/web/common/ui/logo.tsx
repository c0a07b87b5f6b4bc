/** The sign of the pages, beside a name that says the same. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M8 8h3v16H8zm5 0h3v16h-3zm6.2.9 2.9-.8 4 15.4-2.9.8z" />
    </svg>
  )
}
