/** The page of the library, see docs/library-page.md. */
import { render } from 'preact'
import { escapeElements } from '../common/escape-elements.ts'
import { Page } from './page.tsx'

escapeElements()
const place = document.getElementById('page')
if (place) render(<Page />, place)
