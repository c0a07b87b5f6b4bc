/** The dashboard, see docs/dashboard.md. */
import { render } from 'preact'
import { escapeElements } from '../common/escape-elements.ts'
import { Page } from './page.tsx'

escapeElements()
const place = document.getElementById('page')
if (place) render(<Page />, place)
