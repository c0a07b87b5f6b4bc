/** Writes the software bill of materials that goes into the package. */
import { writeFileSync } from 'node:fs'
import { renderSbom } from './sbom.ts'

writeFileSync(new URL('../sbom.cdx.json', import.meta.url), renderSbom())
