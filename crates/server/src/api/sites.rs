//! `GET /api/v1/sites`: lists the sites of the store.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::search::within;
use super::{ApiRefusal, Params};
use crate::App;
use node::handle::Elsewhere;
use node::sites::SiteSummary;

/// Parameters of `GET /api/v1/sites`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SitesParams {
    /// Only sites whose host name has this text.
    #[param(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// The maximum number of sites to return, 1 to 1000; 100 by default. Those with the most URLs
    /// come first.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u16>,
    /// The number of sites to skip.
    #[param(minimum = 0, maximum = 10_000, default = 0)]
    offset: Option<u16>,
}

/// The sites of the store.
#[derive(Debug, Serialize, ToSchema)]
pub struct SiteList {
    /// The number of all sites with this name.
    total: usize,
    /// The sites, those with the most URLs first.
    sites: Vec<SiteBody>,
}

/// One site: the pages of one host name and port.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Site)]
pub struct SiteBody {
    /// The host name, with the port if it is not the usual one.
    host: String,
    /// URLs that are known, fetched or not.
    urls: u64,
    /// Pages with a copy.
    pages: u64,
    /// Pages that search can find.
    searchable: u64,
    /// URLs that were never requested.
    waiting: u64,
    /// URLs whose last visit had an error or got no answer.
    errors: u64,
    /// Pages that are gone from the web.
    gone: u64,
    /// The estimated share of the copies that equal their pages, from 0 to 1; `null` until pages
    /// were revisited.
    #[schema(required)]
    freshness: Option<f64>,
    /// When a page was last requested; `null` if none was.
    #[schema(required, format = DateTime)]
    last_request: Option<String>,
    /// When a visit last found a changed text; `null` if none did.
    #[schema(required, format = DateTime)]
    last_change: Option<String>,
}

impl From<&SiteSummary> for SiteBody {
    fn from(site: &SiteSummary) -> Self {
        let site = site.clone();
        Self {
            host: site.host,
            urls: site.urls,
            pages: site.pages,
            searchable: site.searchable,
            waiting: site.waiting,
            errors: site.errors,
            gone: site.gone,
            freshness: site.freshness,
            last_request: site.last_request,
            last_change: site.last_change,
        }
    }
}

/// List the sites of the store: pages, errors, freshness, last change
///
/// The figures are at most half a minute old.
#[utoipa::path(
    get,
    path = "/sites",
    params(SitesParams),
    responses(
        (status = 200, description = "The sites", body = SiteList),
        (status = 400, description = "A parameter is wrong", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many requests at once, or another command has the store", body = RefusalBody),
    )
)]
pub async fn sites(
    State(app): State<Arc<App>>,
    Params(params): Params<SitesParams>,
) -> Result<Json<SiteList>, ApiRefusal> {
    let limit = within("limit", params.limit, 1, 1000, 100)?;
    let offset = within("offset", params.offset, 0, 10_000, 0)?;
    let length = params.name.as_ref().map(|name| name.chars().count());
    if length.is_some_and(|length| !(1..=255).contains(&length)) {
        return Err(ApiRefusal::parameter("name must have 1 to 255 characters"));
    }
    let found = app.read(|app| app.node.sites()).await;
    let sites = match found {
        Ok(sites) => sites,
        Err(error) if error.is::<Elsewhere>() => {
            let (status, why) = (StatusCode::SERVICE_UNAVAILABLE, error.to_string());
            return Err(ApiRefusal::new(status, "elsewhere", &why));
        }
        Err(error) => return Err(error.into()),
    };
    let name = params.name.unwrap_or_default().to_lowercase();
    let named: Vec<&SiteSummary> = (sites.iter())
        .filter(|site| site.host.contains(&name))
        .collect();
    let skipped = named.iter().skip(offset);
    Ok(Json(SiteList {
        total: named.len(),
        sites: skipped
            .take(limit)
            .map(|site| SiteBody::from(*site))
            .collect(),
    }))
}
