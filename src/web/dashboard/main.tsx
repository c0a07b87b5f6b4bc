/** The dashboard, see docs/dashboard.md. */
import { render } from 'preact'
import { Page } from './page.tsx'

const place = document.getElementById('page')
if (place) render(<Page />, place)
