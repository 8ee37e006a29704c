//! Subjects.

use super::{Error, Tenant};
use crate::domain::json::{self, Json};
use crate::domain::{Subject, SubjectId};
use crate::rules::Refusal;
use crate::store::{Collection, Document, Put, StoreError};

impl Tenant {
    /// Creates or replaces a subject.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn put_subject(&self, subject: &Subject) -> Result<Put, Error> {
        let key = subject.id.as_str().to_owned();
        let document = Document { key, json: json::write(subject) };
        Ok(self.store.put_document(Collection::Subjects, &document).await?)
    }

    /// One subject.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] when there is none with this id.
    pub async fn subject(&self, id: &SubjectId) -> Result<Subject, Error> {
        let document = self.store.document(Collection::Subjects, id.as_str()).await?;
        Ok(read(&document.ok_or(Refusal::NotFound("subject"))?)?)
    }

    /// All subjects, by id.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub async fn subjects(&self) -> Result<Vec<Subject>, Error> {
        let documents = self.store.documents(Collection::Subjects).await?;
        Ok(documents.iter().map(read).collect::<Result<_, _>>()?)
    }
}

fn read(document: &Document) -> Result<Subject, StoreError> {
    let unreadable = |error: String| StoreError::new("read subject", error);
    let json =
        Json::read(document.json.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
    Subject::read(&mut json.into_object()).map_err(|error| unreadable(error.to_string()))
}
