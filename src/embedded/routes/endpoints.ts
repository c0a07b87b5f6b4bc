import type { RouteName } from '../../contract/routes.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { checkAccess } from './check-access.ts'
import { createDirectory } from './create-directory.ts'
import { createLibrary } from './create-library.ts'
import { createAssetViewUrl, createResourceViewUrl } from './create-view-urls.ts'
import { deleteLibrary } from './delete-library.ts'
import { deleteResource } from './delete-resource.ts'
import { downloadAsset } from './download-asset.ts'
import { downloadResource } from './download-resource.ts'
import { listDirectory } from './list-directory.ts'
import { listLibraries } from './list-libraries.ts'
import { searchResources } from './search-resources.ts'
import { showLibrary } from './show-library.ts'
import { showResource } from './show-resource.ts'
import { uploadFile } from './upload-file.ts'
import { downloadFrame, downloadScene } from './video-representations.ts'

/** Every route has its endpoint. */
export const ENDPOINTS = {
  checkAccess,
  downloadAsset,
  downloadScene,
  downloadFrame,
  createAssetViewUrl,
  listLibraries,
  createLibrary,
  showLibrary,
  deleteLibrary,
  listDirectory,
  createDirectory,
  uploadFile,
  showResource,
  deleteResource,
  searchResources,
  downloadResource,
  createResourceViewUrl,
} satisfies Record<RouteName, Endpoint>
